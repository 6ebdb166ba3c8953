from enum import StrEnum


class AttemptMode(StrEnum):
    AUTO = "auto"
    CODE = "code"

    def __str__(self) -> str:
        return str(self.value)
