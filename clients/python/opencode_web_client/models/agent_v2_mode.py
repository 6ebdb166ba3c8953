from enum import StrEnum


class AgentV2Mode(StrEnum):
    ALL = "all"
    PRIMARY = "primary"
    SUBAGENT = "subagent"

    def __str__(self) -> str:
        return str(self.value)
