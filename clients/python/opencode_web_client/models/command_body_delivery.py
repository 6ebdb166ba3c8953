from enum import StrEnum


class CommandBodyDelivery(StrEnum):
    QUEUE = "queue"
    STEER = "steer"

    def __str__(self) -> str:
        return str(self.value)
