from enum import StrEnum


class WaitingInputStatus(StrEnum):
    ADMITTED = "admitted"
    CANCELLED = "cancelled"
    PROMOTED = "promoted"

    def __str__(self) -> str:
        return str(self.value)
