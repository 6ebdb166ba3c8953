from enum import StrEnum


class MessageV2Type(StrEnum):
    ASSISTANT = "assistant"
    COMPACTION = "compaction"
    USER = "user"

    def __str__(self) -> str:
        return str(self.value)
