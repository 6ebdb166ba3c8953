from enum import StrEnum


class FileContentType(StrEnum):
    BINARY = "binary"
    TEXT = "text"

    def __str__(self) -> str:
        return str(self.value)
