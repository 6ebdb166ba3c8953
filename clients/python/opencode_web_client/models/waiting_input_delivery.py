from enum import StrEnum


class WaitingInputDelivery(StrEnum):
    QUEUE = "queue"
    STEER = "steer"

    def __str__(self) -> str:
        return str(self.value)
