from __future__ import annotations

from pydantic import Field

from tools.base import Params, Tool, ToolResult, load_description
from tools.context import Question, QuestionOption, ToolContext


class OptionParams(Params):
    """One answer that is offered."""

    label: str = Field(min_length=1, max_length=200, description="The answer, in 1 to 5 words.")
    description: str = Field(
        "", max_length=1_000, description="What choosing it means, in one sentence."
    )


class QuestionItem(Params):
    """One question."""

    question: str = Field(min_length=1, max_length=2_000, description="The whole question.")
    header: str = Field("", max_length=100, description="A name for it, in at most 30 characters.")
    options: list[OptionParams] = Field(
        max_length=12, description="The answers to choose from; none for a free answer."
    )
    multiple: bool | None = Field(None, description="Whether several may be chosen.")


class QuestionParams(Params):
    """What to ask a person."""

    questions: list[QuestionItem] = Field(min_length=1, max_length=8, description="The questions.")


async def run(params: QuestionParams, context: ToolContext) -> ToolResult:
    """Ask, and come back with what a person said."""
    questions = [
        Question(
            item.question,
            item.header,
            tuple(QuestionOption(option.label, option.description) for option in item.options),
            multiple=bool(item.multiple),
        )
        for item in params.questions
    ]
    answers = await context.ask_user(questions)
    lines = [
        f"- {question.question}\n  Answer: {', '.join(answer) if answer else '(left open)'}"
        for question, answer in zip(questions, answers, strict=True)
    ]
    count = len(questions)
    return ToolResult(
        title=f"Asked {count} question{'' if count == 1 else 's'}",
        output="\n".join(["This is what the user answered:", *lines, "Go on from these answers."]),
        metadata={"answers": [list(answer) for answer in answers]},
    )


TOOL = Tool("question", QuestionParams, run, "question", load_description(__file__))
