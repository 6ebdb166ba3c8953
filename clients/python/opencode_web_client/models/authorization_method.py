from enum import StrEnum


class AuthorizationMethod(StrEnum):
    AUTO = "auto"
    CODE = "code"

    def __str__(self) -> str:
        return str(self.value)
