from enum import StrEnum


class FindFilesTypeType0(StrEnum):
    DIRECTORY = "directory"
    FILE = "file"

    def __str__(self) -> str:
        return str(self.value)
