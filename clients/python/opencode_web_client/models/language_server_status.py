from enum import StrEnum


class LanguageServerStatus(StrEnum):
    CONNECTED = "connected"
    ERROR = "error"

    def __str__(self) -> str:
        return str(self.value)
