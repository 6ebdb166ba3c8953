from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.llm.adapters.openrouter import OpenRouter
from providers.llm.errors import BadRequest, NetworkError, ServerError
from providers.llm.events import Finished, FinishReason
from providers.llm.messages import (
    AssistantMessage,
    Reasoning,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from tests.providers.llm.servers_chat import OpenRouterServer, call, delta, usage
from tests.providers.llm.talk import PDF, PNG, Answer, ask, go_on, model, request, sse

NPM = "@openrouter/ai-sdk-provider"
CLAUDE = model(NPM, "anthropic/claude-sonnet-4.5", "openrouter")
GPT = model(NPM, "openai/gpt-5.4", "openrouter")
GEMINI = model(NPM, "google/gemini-3-flash-preview", "openrouter")
MARK = {"cache_control": {"type": "ephemeral"}}
DONE = [delta(content="Done."), delta("stop")]
READ_A = delta("tool_calls", tool_calls=[call(0, "c1", '{"path":"a"}')])


def text(said: str, form: str = "anthropic-claude-v1") -> Any:
    detail = {"type": "reasoning.text", "text": said, "format": form, "index": 0}
    return delta(content="", reasoning=said, reasoning_details=[detail])


def detail(kind: str, **fields: Any) -> Any:
    return delta(content="", reasoning_details=[{"type": f"reasoning.{kind}", **fields}])


SIGNATURE = detail("text", signature="sig-1", format="anthropic-claude-v1", index=0)


async def test_it_reads_text_usage_and_what_was_billed() -> None:
    counts = usage(
        prompt_tokens_details={"cached_tokens": 4, "cache_write_tokens": 1},
        completion_tokens_details={"reasoning_tokens": 2},
        cost=0.0123,
    )
    server = OpenRouterServer([delta(content="He"), delta(content="llo"), delta("stop"), counts])
    answer = await ask(request(GPT, "Hi"), server)
    assert answer.text == "Hello"
    assert answer.finished == Finished(FinishReason.STOP, Usage(5, 3, 2, 4, 1), Decimal("0.0123"))
    sent = server.requests[0]
    assert str(sent.url) == "https://openrouter.ai/api/v1/chat/completions"
    assert sent.headers["x-title"] == "opencode"
    body = server.bodies[0]
    assert body["usage"] == {"include": True}
    assert body["messages"][1] == {"role": "user", "content": "Hi"}
    assert "stream_options" not in body


async def test_signed_thinking_of_claude_is_joined_and_goes_back() -> None:
    hidden = detail("encrypted", data="red", format="anthropic-claude-v1", index=1)
    server = OpenRouterServer(
        [text("First "), text("thoughts."), SIGNATURE, hidden, delta(content="I read."), READ_A],
        DONE,
        DONE,
    )
    first = request(CLAUDE, "Read")
    answer = await ask(first, server)
    second = go_on(first, answer, output="File not found", is_error=True)
    last = await ask(second, server)
    assert last.text == "Done."
    said = server.bodies[1]["messages"][2]
    assert said["reasoning"] == "First thoughts."
    assert said["reasoning_details"] == [
        {
            "type": "reasoning.text",
            "text": "First thoughts.",
            "signature": "sig-1",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "red", "format": "anthropic-claude-v1", "index": 1},
    ]
    await ask(go_on(second, last, "Thanks"), server)
    assert server.bodies[2]["messages"][2] == said


async def test_the_server_of_these_tests_refuses_a_changed_signature() -> None:
    server = OpenRouterServer([text("T"), SIGNATURE, READ_A], DONE)
    first = request(CLAUDE, "Read")
    answer = await ask(first, server)
    details: Any = [{"type": "reasoning.text", "text": "other", "signature": "sig-1"}]
    wrong = AssistantMessage(
        (Reasoning("other", {"openrouter": {"reasoning_details": details}}), Text("x"))
    )
    refused = await ask(replace(first, messages=(*first.messages, wrong)), server)
    assert isinstance(refused.failed.error, BadRequest)
    assert (await ask(go_on(first, answer), server)).text == "Done."


async def test_summaries_of_gpt_go_back_as_they_came() -> None:
    summaries = [
        detail("summary", summary=s, format="openai-responses-v1", index=0) for s in ("A ", "b")
    ]
    encrypted = detail("encrypted", data="enc", id="rs_1", format="openai-responses-v1", index=0)
    server = OpenRouterServer([*summaries, encrypted, READ_A], DONE)
    first = request(GPT, "Read")
    await ask(go_on(first, await ask(first, server)), server)
    said = server.bodies[1]["messages"][2]
    assert said["reasoning"] == "A b"
    assert [one.get("summary", one.get("data")) for one in said["reasoning_details"]] == [
        "A ",
        "b",
        "enc",
    ]


async def test_of_gemini_only_what_is_encrypted_goes_back_and_only_once() -> None:
    form = "google-gemini-v1"
    encrypted = detail("encrypted", data="enc", id="tool_1", format=form, index=0)
    server = OpenRouterServer(
        [text("T", form), encrypted, READ_A], [text("U", form), encrypted, *DONE], DONE
    )
    first = request(GEMINI, "Read")
    second = go_on(first, await ask(first, server))
    await ask(go_on(second, await ask(second, server), "And now?"), server)
    kept = {
        "type": "reasoning.encrypted",
        "data": "enc",
        "id": "tool_1",
        "format": form,
        "index": 0,
    }
    said = [one for one in server.bodies[2]["messages"] if one["role"] == "assistant"]
    assert said[0]["reasoning_details"] == [kept]
    assert said[1] == {"role": "assistant", "content": "Done.", "reasoning_details": []}


async def test_a_detail_that_comes_after_the_calls_goes_back_too() -> None:
    late = detail("encrypted", data="enc", id="tool_1", format="google-gemini-v1", index=0)
    server = OpenRouterServer([delta(content="I read."), READ_A, late], DONE)
    first = request(GEMINI, "Read")
    answer = await ask(first, server)
    assert answer.finished.reason is FinishReason.TOOL_CALLS
    assert len(answer.calls) == 1
    await ask(go_on(first, answer), server)
    assert server.bodies[1]["messages"][2]["reasoning_details"][0]["data"] == "enc"


async def test_claude_gets_marks_and_others_get_none() -> None:
    asked = request(CLAUDE, UserMessage((Text("Look"), PDF)))
    server = OpenRouterServer([READ_A], DONE, [READ_A], DONE)
    await ask(go_on(asked, await ask(asked, server), files=(PNG,)), server)
    system = [{"type": "text", "text": "You help."}]
    first, second = (body["messages"] for body in server.bodies)
    assert first[0]["content"] == [{**system[0], **MARK}]
    assert [set(part) & set(MARK) for part in first[1]["content"]] == [set(), set(MARK)]
    assert "cache_control" not in str(second[1:3])
    assert second[3]["cache_control"] == MARK["cache_control"]
    assert second[4]["content"][-1]["cache_control"] == MARK["cache_control"]
    plain = request(GPT, "Read")
    await ask(go_on(plain, await ask(plain, server)), server)
    assert server.bodies[3]["messages"][0]["content"] == system
    assert "cache_control" not in str(server.bodies[3])


async def test_results_have_names_and_nameless_documents_stay_so() -> None:
    server = OpenRouterServer([READ_A], DONE)
    first = request(GPT, "Read")
    await ask(go_on(first, await ask(first, server), files=(replace(PDF, name=""),)), server)
    _, _, _, result, media = server.bodies[1]["messages"]
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "alpha", "name": "read"}
    assert media["content"][1]["file"]["filename"] == ""


async def test_claude_gets_ids_that_it_takes() -> None:
    said = AssistantMessage((ToolCall("call:1.x", "read", {}),))
    server = OpenRouterServer(DONE)
    await ask(request(CLAUDE, "Hi", said, ToolResultMessage("call:1.x", "read", "y")), server)
    assert server.bodies[0]["messages"][2]["tool_calls"][0]["id"] == "call_1_x"


async def test_thinking_of_others_is_not_shown_to_claude() -> None:
    said = AssistantMessage((Reasoning("Hm.", {"openai": {"itemId": "i"}}), Text("Yes.")))
    server = OpenRouterServer(DONE)
    await ask(request(CLAUDE, "Hi", said, "Sure?"), server)
    assert server.bodies[0]["messages"][2] == {"role": "assistant", "content": "Yes."}


async def test_prompts_that_follow_each_other_stay_two() -> None:
    server = OpenRouterServer(DONE)
    await ask(request(GPT, "Name this:", "Hi"), server)
    assert [one["role"] for one in server.bodies[0]["messages"]] == ["system", "user", "user"]


async def test_a_message_of_which_nothing_is_left_is_left_out() -> None:
    said = AssistantMessage((Text("", {"google": {"thoughtSignature": "s"}}),))
    server = OpenRouterServer(DONE)
    await ask(request(CLAUDE, "Hi", said, "Sure?"), server)
    assert [one["role"] for one in server.bodies[0]["messages"]] == ["system", "user", "user"]


async def test_details_of_another_vendor_behind_it_stay_here() -> None:
    encrypted = detail("encrypted", data="enc", id="rs_1", format="openai-responses-v1", index=0)
    server = OpenRouterServer([text("A", "openai-responses-v1"), encrypted, *DONE], DONE, DONE)
    first = request(GPT, "Hi")
    answer = await ask(first, server)
    await ask(go_on(first, answer, "Sure?"), server)
    assert len(server.bodies[1]["messages"][2]["reasoning_details"]) == 2
    await ask(go_on(replace(first, model=CLAUDE), answer, "Sure?"), server)
    said = server.bodies[2]["messages"][2]
    assert (said.get("reasoning"), said["reasoning_details"]) == (None, [])


async def test_options_stay_as_they_are() -> None:
    options: Any = {"reasoning": {"effort": "low"}, "provider": {"order": ["x"]}, "custom": 1}
    server = OpenRouterServer(DONE)
    await ask(request(replace(GPT, options=options), "Hi", top_k=5), server)
    body = server.bodies[0]
    assert body.items() >= options.items()
    assert body["top_k"] == 5


async def test_an_error_in_the_stream_is_one() -> None:
    frame = {"error": {"message": "Provider returned error", "code": 502}}
    answer = await ask(request(GPT, "Hi"), OpenRouterServer(sse(delta(content="A"), frame)))
    assert isinstance(answer.failed.error, ServerError)


async def test_a_cut_answer_is_a_failure() -> None:
    answer = await ask(request(GPT, "Hi"), OpenRouterServer(sse(text("A"), cut=True)))
    assert isinstance(answer.failed.error, NetworkError)


async def test_odd_frames_are_at_worst_a_failure(subtests: pytest.Subtests) -> None:
    for details in [
        3,
        [3],
        ["x"],
        {"a": 1},
        [{}],
        [{"type": ["x"], "text": 3}],
        [{"text": "t"}, None],
    ]:
        with subtests.test(details=details):
            frames = [delta(reasoning_details=details, content="A"), delta("stop")]
            answer = await ask(request(GPT, "Hi"), OpenRouterServer(frames))
            assert answer.end is not None


THOUGHTS = st.lists(
    st.one_of(
        st.text(min_size=1, max_size=4).map(lambda said: text(said, "unknown")),
        st.sampled_from(
            [
                detail("text", signature="sig-1", format="unknown", index=0),
                detail("summary", summary="S"),
            ]
        ),
    ),
    max_size=5,
).map(lambda some: [*some, detail("encrypted", data="enc", id="rs_1", index=0)])
TEXTS = st.lists(st.text(min_size=1, max_size=4).map(lambda said: delta(content=said)), max_size=3)


@given(THOUGHTS, TEXTS, st.lists(st.just(READ_A), max_size=1))
def test_what_was_read_is_written_and_read_the_same(
    thoughts: list[Any], texts: list[Any], calls: list[Any]
) -> None:
    def decoded(chunks: list[Any]) -> AssistantMessage:
        decoder = protocol.decoder(asked)
        events = [event for chunk in chunks for event in decoder.feed(chunk)]
        return Answer([*events, *decoder.end()]).message

    def said(message: AssistantMessage) -> Any:
        body: Any = protocol.encode(replace(asked, messages=(message,)))
        return body["messages"][1:]

    protocol, asked = OpenRouter(), request(GPT, "Hi")
    wire = said(decoded([*thoughts, *texts, *calls, delta("stop")]))
    again = [delta(**{name: one[name] for name in one if name != "role"}) for one in wire]
    assert said(decoded([*again, delta("stop")])) == wire


async def test_what_it_bills_is_its_fee_and_what_the_vendor_takes(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ({"cost": 0}, "0"),
        ({"cost": 0.01, "cost_details": {"upstream_inference_cost": 0.01}}, "0.01"),
        (
            {"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}},
            "0.21",
        ),
        ({"cost": 0.01, "is_byok": True}, None),
        ({"cost": -1}, None),
        ({"cost": 1e300}, None),
        ({"cost": "0.01"}, None),
        ({"cost": True}, None),
        ({}, None),
    ]
    for said, billed in cases:
        with subtests.test(said=said):
            server = OpenRouterServer([delta(content="Hi"), delta("stop"), usage(**said)])
            answer = await ask(request(GPT, "Hi"), server)
            assert answer.finished.billed == (None if billed is None else Decimal(billed))
