from enum import StrEnum


class ProviderSource(StrEnum):
    API = "api"
    CONFIG = "config"
    CUSTOM = "custom"
    ENV = "env"

    def __str__(self) -> str:
        return str(self.value)
