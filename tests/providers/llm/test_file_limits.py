from __future__ import annotations

from typing import Any

import pytest

from providers.llm.file_limits import leave_out_surplus, limits_of
from providers.llm.messages import File, ProviderRequest, Text, ToolResultMessage, UserMessage
from tests.providers.llm.exchange import a_model, a_request

GROQ = a_model("@ai-sdk/groq", "llama-4-scout", "groq")


def picture(name: str, size: int = 8) -> File:
    return File("image/png", f"data:image/png;base64,{'A' * size}", name)


def prompt(*names: str, size: int = 8) -> UserMessage:
    return UserMessage((Text("Look"), *(picture(name, size) for name in names)))


def kept(request: ProviderRequest) -> list[str]:
    return [file.name for file in request.files]


def test_of_too_many_pictures_the_oldest_are_named_only() -> None:
    result = ToolResultMessage("c", "read", "Read.", files=(picture("d"), picture("e")))
    asked = a_request(GROQ, prompt("a", "b", "c"), result, prompt("f"))
    left = leave_out_surplus(asked)
    assert kept(left) == ["b", "c", "d", "e", "f"]
    first = left.messages[0].content[1]  # type: ignore[union-attr]
    assert isinstance(first, Text)
    assert first.text.startswith('[The file "a" was left out: this provider takes 5 pictures')


def test_a_picture_of_a_result_is_named_below_its_text() -> None:
    result = ToolResultMessage("c", "read", "Read.", files=(picture("a"),))
    left = leave_out_surplus(a_request(GROQ, result, prompt(*"bcdef")))
    first: Any = left.messages[0]
    assert first.files == ()
    assert first.output.startswith('Read.\n[The file "a" was left out')


def test_of_files_that_are_too_much_together_the_oldest_go() -> None:
    size = limits_of(GROQ).total_bytes // 2 - 100
    asked = a_request(GROQ, prompt("a", size=size), prompt("b", size=size), prompt("c", size=size))
    assert kept(leave_out_surplus(asked)) == ["b", "c"]


def test_what_fits_is_the_same_request() -> None:
    asked = a_request(GROQ, prompt("a", "b"))
    assert leave_out_surplus(asked) is asked


@pytest.mark.parametrize(
    "npm", ["@ai-sdk/openai-compatible", "@openrouter/ai-sdk-provider", "@ai-sdk/google-vertex"]
)
def test_claude_has_its_limits_wherever_it_is_served(npm: str) -> None:
    own = limits_of(a_model("@ai-sdk/anthropic", "claude-sonnet-4-5", "anthropic"))
    assert limits_of(a_model(npm, "anthropic/claude-sonnet-4.5", "x")) == own
    assert limits_of(a_model(npm, "qwen3-vl", "x")) != own
