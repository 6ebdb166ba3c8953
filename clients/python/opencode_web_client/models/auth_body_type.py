from enum import StrEnum


class AuthBodyType(StrEnum):
    API = "api"
    OAUTH = "oauth"
    WELLKNOWN = "wellknown"

    def __str__(self) -> str:
        return str(self.value)
