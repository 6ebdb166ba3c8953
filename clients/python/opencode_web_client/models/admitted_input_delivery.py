from enum import StrEnum


class AdmittedInputDelivery(StrEnum):
    QUEUE = "queue"
    STEER = "steer"

    def __str__(self) -> str:
        return str(self.value)
