from enum import StrEnum


class FilesVcsDiffMode(StrEnum):
    BRANCH = "branch"
    GIT = "git"

    def __str__(self) -> str:
        return str(self.value)
