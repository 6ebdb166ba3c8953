from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolError
from tools.builtin.question import TOOL
from tools.context import Question, QuestionOption, Suspended

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue"}],
}
REST = {"question": "What else?", "header": "Rest", "options": [], "multiple": True}


async def test_the_answers_go_to_the_model_and_to_clients(context: FakeToolContext) -> None:
    context.answers = [["Red"], []]
    result = await context.call("question", questions=[COLOUR, REST])
    assert result.title == "Asked 2 questions"
    assert result.metadata["answers"] == [["Red"], []]
    assert "Which colour?\n  Answer: Red" in result.output
    assert "What else?\n  Answer: (left open)" in result.output
    assert context.questions == [
        Question(
            "Which colour?",
            "Colour",
            (QuestionOption("Red", "Warm"), QuestionOption("Blue", "")),
        ),
        Question("What else?", "Rest", (), multiple=True),
    ]
    # Nobody is asked whether they may be asked.
    assert context.asks == []


async def test_it_waits_for_a_person(context: FakeToolContext) -> None:
    with pytest.raises(Suspended) as suspended:
        await context.call("question", questions=[COLOUR])
    assert suspended.value.on == "person"


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [COLOUR] * 9,
        [{**COLOUR, "question": ""}],
        [{**COLOUR, "question": "x" * 2_001}],
        [{**COLOUR, "options": [{"label": "x"}] * 13}],
        [{**COLOUR, "options": [{"label": ""}]}],
        [{"question": "x", "header": "x"}],
    ],
)
async def test_questions_that_nobody_could_answer_are_refused(
    context: FakeToolContext, questions: list[Any]
) -> None:
    with pytest.raises(ToolError, match="invalid arguments"):
        await context.call("question", questions=questions)
    assert context.questions == []


def test_what_a_model_may_send_has_no_field_for_own_words() -> None:
    schema: Any = TOOL.schema()
    item = schema["properties"]["questions"]["items"]
    assert set(item["properties"]) == {"question", "header", "options", "multiple"}
