from enum import StrEnum


class CommandSource(StrEnum):
    COMMAND = "command"
    MCP = "mcp"
    SKILL = "skill"

    def __str__(self) -> str:
        return str(self.value)
