from enum import StrEnum


class ServiceBodyRole(StrEnum):
    ADMIN = "admin"
    BILLING = "billing"
    MEMBER = "member"
    VIEWER = "viewer"

    def __str__(self) -> str:
        return str(self.value)
