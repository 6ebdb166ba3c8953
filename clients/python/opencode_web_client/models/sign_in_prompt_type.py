from enum import StrEnum


class SignInPromptType(StrEnum):
    SELECT = "select"
    TEXT = "text"

    def __str__(self) -> str:
        return str(self.value)
