from enum import StrEnum


class PromptWhenOp(StrEnum):
    EQ = "eq"
    NEQ = "neq"

    def __str__(self) -> str:
        return str(self.value)
