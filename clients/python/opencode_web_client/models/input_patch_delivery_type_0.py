from enum import StrEnum


class InputPatchDeliveryType0(StrEnum):
    QUEUE = "queue"
    STEER = "steer"

    def __str__(self) -> str:
        return str(self.value)
