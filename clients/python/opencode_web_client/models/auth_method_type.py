from enum import StrEnum


class AuthMethodType(StrEnum):
    API = "api"
    OAUTH = "oauth"

    def __str__(self) -> str:
        return str(self.value)
