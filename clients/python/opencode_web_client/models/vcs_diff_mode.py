from enum import StrEnum


class VcsDiffMode(StrEnum):
    BRANCH = "branch"
    GIT = "git"

    def __str__(self) -> str:
        return str(self.value)
