from enum import StrEnum


class V2FsFindTypeType0(StrEnum):
    DIRECTORY = "directory"
    FILE = "file"

    def __str__(self) -> str:
        return str(self.value)
