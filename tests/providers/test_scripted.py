from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from providers.catalog import SCRIPTED_NPM
from providers.llm.errors import BadRequest, NetworkError, RateLimited
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from providers.llm.messages import (
    AssistantMessage,
    Message,
    ModelRef,
    ProviderRequest,
    ResolvedModel,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from providers.llm.secret import Secret
from providers.testing import load_demo
from tests.providers.requests import READ, collect, end_of, make_request, text_of

SAMPLE = Path(__file__).parents[2] / "sessions" / "sample_project"
SAID = AssistantMessage((Text("…"),))


def request_for(model: str, *messages: Message | str, **fields: Any) -> ProviderRequest:
    resolved = ResolvedModel(
        ref=ModelRef("demo", model),
        npm=SCRIPTED_NPM,
        api_model=model,
        base_url=None,
        api_key=Secret(""),
        name=model,
    )
    fields.setdefault("tools", (READ,))
    return make_request(resolved, *messages, **fields)


def inline(script: dict[str, Any] | str) -> str:
    text = script if isinstance(script, str) else json.dumps(script)
    return f"Please play\n<<script\n{text}\n>>\nthank you"


def turn(*steps: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    return {"turns": [[{"events": events, **fields} for events in steps]]}


async def test_it_plays_events_in_chunks() -> None:
    script = turn(
        [
            {"reasoning": "hmm!"},
            {"text": "Hello"},
            {"tool": "read", "input": {"filePath": "a >> b"}},
        ],
        chunk_chars=3,
    )
    events = await collect(request_for("inline", inline(script)))
    raw = '{"filePath": "a >> b"}'
    assert events[:6] == [
        ReasoningDelta("hmm"),
        ReasoningDelta("!"),
        ReasoningEnd(),
        TextDelta("Hel"),
        TextDelta("lo"),
        ToolCallStart(0, "call_1_1_1", "read"),
    ]
    assert "".join(e.text for e in events if isinstance(e, ToolCallDelta)) == raw
    assert events[-2] == ToolCallEnd(0, "call_1_1_1", "read", {"filePath": "a >> b"}, raw)
    assert isinstance(end := end_of(events), Finished)
    assert end.reason is FinishReason.TOOL_CALLS
    assert end.usage.input_tokens > 0
    assert end.usage.reasoning_tokens == 1


async def test_the_place_follows_from_the_conversation(subtests: pytest.Subtests) -> None:
    cases = [
        ((), "1.1"),
        ((SAID,), "1.2"),
        ((SAID, SAID), "That is the end of this script."),
        ((SAID, SystemMessage("x"), "second"), "2.1"),
        ((SAID, "second", SAID, SAID, "third"), "otherwise"),
    ]
    for messages, text in cases:
        with subtests.test(text=text):
            script = {
                "turns": [
                    [{"events": [{"text": "1.1"}]}, {"events": [{"text": "1.2"}]}],
                    [{"events": [{"text": "2.1"}]}],
                ],
                "otherwise": [{"events": [{"text": "otherwise"}]}],
            }
            events = await collect(request_for("inline", inline(script), *messages))
            assert text_of(events) == text


async def test_the_newest_script_in_the_conversation_counts() -> None:
    first, second = inline(turn([{"text": "first"}])), inline(turn([{"text": "second"}]))
    assert text_of(await collect(request_for("inline", first, SAID, second))) == "second"


@pytest.mark.parametrize(("is_error", "text"), [(True, "sorry"), (False, "fine")])
async def test_an_alternative_is_played_after_a_failed_tool(is_error: bool, text: str) -> None:
    script = {
        "turns": [
            [
                {"events": [{"tool": "read"}]},
                {"events": [{"text": "fine"}], "if_error": [{"text": "sorry"}]},
            ]
        ]
    }
    said = AssistantMessage((ToolCall("call_1_1_1", "read", {}),))
    result = ToolResultMessage("call_1_1_1", "read", "…", is_error=is_error)
    events = await collect(request_for("inline", inline(script), said, result))
    assert text_of(events) == text


async def test_an_error_is_classified_like_a_real_one() -> None:
    error = {"status": 429, "message": "Slow down", "retry_after_s": 3}
    script = turn([{"text": "half"}, {"error": error}, {"text": "never"}])
    events = await collect(request_for("inline", inline(script)))
    assert text_of(events) == "half"
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, RateLimited)
    assert (end.error.message, end.error.retry_after_s) == ("Slow down", 3)


async def test_a_cut_is_a_network_error() -> None:
    events = await collect(request_for("inline", inline(turn([{"text": "half"}, {"cut": True}]))))
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, NetworkError)


async def test_usage_and_finish_can_be_given() -> None:
    usage = {"input": 1, "output": 2, "reasoning": 3, "cache_read": 4, "cache_write": 5}
    script = turn([{"text": "x"}], usage=usage, finish="length")
    events = await collect(request_for("inline", inline(script)))
    assert end_of(events) == Finished(FinishReason.LENGTH, Usage(1, 2, 3, 4, 5))


async def test_raw_arguments_need_not_be_json() -> None:
    events = await collect(request_for("inline", inline(turn([{"tool": "read", "raw": "{oops"}]))))
    [end] = [event for event in events if isinstance(event, ToolCallEnd)]
    assert (end.arguments, end.raw) == (None, "{oops")


async def test_delays_are_waited_for() -> None:
    script = turn([{"delay_ms": 30}, {"text": "abcd"}], chunk_chars=1, chunk_delay_ms=10)
    started = time.monotonic()
    await collect(request_for("inline", inline(script)))
    assert 0.07 <= time.monotonic() - started < 10


@pytest.mark.parametrize(
    "script", ["{", "[]", '{"turns": [[{"events": [{"txt": "typo"}]}]]}', '{"turns": [], "x": 1}']
)
async def test_a_script_that_is_none_is_refused_in_words(script: str) -> None:
    events = await collect(request_for("inline", inline(script)))
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, BadRequest)
    assert end.error.message.startswith("The script is not valid: ")


async def test_without_a_script_it_says_what_it_wants() -> None:
    assert "<<script" in text_of(await collect(request_for("inline", "Hello")))


async def test_the_demo_says_that_it_is_scripted_and_answers_a_title() -> None:
    title = await collect(request_for("tour", "Generate a title", tools=()))
    assert text_of(title) == "Fix the failing till test"
    begun = await collect(request_for("tour", "Fix the failing test."))
    assert "I am a scripted demo" in text_of(begun)


@pytest.mark.parametrize(
    "asked",
    [
        ("Write a haiku about the moon.",),
        ("Make it still.", SAID, "The latest"),
        ("The till test fails.", SAID, "And now a haiku"),
    ],
)
async def test_the_demo_says_to_other_prompts_that_it_has_one_story(
    asked: tuple[Message | str, ...],
) -> None:
    answer = await collect(request_for("tour", *asked))
    assert "I play only one story" in text_of(answer)
    assert "[Team settings → Models](/)" in text_of(answer)
    assert not any(isinstance(event, ToolCallEnd) for event in answer)


async def test_the_story_begins_with_the_prompt_that_is_about_it() -> None:
    said = await collect(request_for("tour", "Write a haiku.", SAID, "Then mend the tests."))
    [end] = [event for event in said if isinstance(event, ToolCallEnd)]
    assert (end.name, end.arguments) == ("glob", {"pattern": "till.py"})


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (("No files found",), "There is no `till.py` here."),
        (("/p/till.py", "…", "No files found"), "In this folder the bug is fixed already"),
    ],
)
async def test_without_its_bug_the_demo_says_so_and_calls_nothing(
    found: tuple[str, ...], says: str
) -> None:
    results = [one for output in found for one in (SAID, ToolResultMessage("call_1", "x", output))]
    answer = await collect(request_for("tour", "Fix the failing test.", *results))
    assert says in text_of(answer)
    assert "[Team settings → Models](/)" in text_of(answer)
    assert not any(isinstance(event, ToolCallEnd) for event in answer)


def test_the_demo_takes_six_to_eight_seconds() -> None:
    seconds = 0.0
    for step in load_demo().turns[0]:
        assert step.chunk_chars
        for event in step.events:
            fields = event.model_dump()
            text = fields.get("text") or fields.get("reasoning") or json.dumps(fields.get("input"))
            seconds += -(-len(text) // step.chunk_chars) * step.chunk_delay_ms / 1000
    assert 4.5 <= seconds <= 8


def test_the_demo_fixes_the_sample_project(tmp_path: Path) -> None:
    for file in SAMPLE.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())

    def run_tests() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "unittest", "-q"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    before = run_tests()
    assert before.returncode == 1
    assert "FAILED (failures=1)" in before.stderr
    steps = [event.model_dump() for step in load_demo().turns[0] for event in step.events]
    tools = [step for step in steps if "tool" in step]
    assert [tool["tool"] for tool in tools] == ["glob", "read", "read", "grep", "edit", "bash"]
    edit = tools[4]["input"]
    source = (tmp_path / edit["filePath"]).read_text()
    assert source.count(edit["oldString"]) == 1
    (tmp_path / edit["filePath"]).write_text(source.replace(edit["oldString"], edit["newString"]))
    assert tools[5]["input"]["command"] == "python3 -m unittest -q"
    assert run_tests().returncode == 0
