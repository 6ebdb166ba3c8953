from enum import StrEnum


class AttemptStatusStatus(StrEnum):
    COMPLETE = "complete"
    EXPIRED = "expired"
    FAILED = "failed"
    PENDING = "pending"

    def __str__(self) -> str:
        return str(self.value)
