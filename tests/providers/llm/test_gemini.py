from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.llm.errors import (
    AuthError,
    BadRequest,
    NetworkError,
    RateLimited,
    ServerError,
)
from providers.llm.events import Finished, FinishReason
from providers.llm.messages import (
    AssistantMessage,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from providers.llm.protocols.gemini import Gemini
from tests.providers.llm.servers_gemini import GeminiServer, chunk
from tests.providers.llm.talk import PDF, PNG, Answer, ask, go_on, model, request, sse

NEW = model("@ai-sdk/google", "gemini-3-pro-preview", "google")
OLD = model("@ai-sdk/google", "gemini-2.5-pro", "google")
DONE = chunk({"text": "Done."}, finish="STOP")
CALL_A = {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"}
CALL_B = {"functionCall": {"name": "read", "args": {"path": "b"}}}


async def test_it_reads_text_usage_and_the_end() -> None:
    counts = {
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 4,
        "totalTokenCount": 20,
    }
    server = GeminiServer(
        [
            chunk({"text": "He"}),
            chunk({"text": "llo"}),
            chunk({"text": ""}, finish="STOP", **counts),
        ]
    )
    answer = await ask(request(NEW, "Hi"), server)
    assert answer.text == "Hello"
    usage = Usage(input_tokens=6, output_tokens=7, reasoning_tokens=3, cache_read_tokens=4)
    assert answer.finished == Finished(FinishReason.STOP, usage)
    sent = server.requests[0]
    assert sent.url == (
        "https://generativelanguage.googleapis.com/v1beta/models/"
        "gemini-3-pro-preview:streamGenerateContent?alt=sse"
    )
    assert sent.headers["x-goog-api-key"] == "key-of-tests"
    assert "authorization" not in sent.headers
    assert sent.headers["x-session-id"] == "ses_1"


async def test_two_steps_with_thoughts_and_parallel_calls_bring_the_signature_back() -> None:
    server = GeminiServer(
        [
            chunk({"text": "First ", "thought": True}),
            chunk({"text": "thoughts.", "thought": True}),
            chunk({"text": "I read."}, CALL_A),
            chunk(CALL_B, finish="STOP"),
        ],
        [DONE],
        [DONE],
    )
    first = request(NEW, "Read both")
    answer = await ask(first, server)
    assert answer.finished.reason is FinishReason.TOOL_CALLS
    assert len({call.id for call in answer.calls}) == 2
    second = go_on(first, answer, output="File not found", is_error=True)
    assert (await ask(second, server)).text == "Done."
    _, said, results = server.bodies[1]["contents"]
    assert said == {
        "role": "model",
        "parts": [
            {"text": "First thoughts.", "thought": True},
            {"text": "I read."},
            CALL_A,
            CALL_B,
        ],
    }
    response = {"name": "read", "response": {"name": "read", "error": "File not found"}}
    assert results == {"role": "user", "parts": [{"functionResponse": response}] * 2}
    await ask(replace(second, messages=(*second.messages, UserMessage((Text("more"),)))), server)
    assert server.bodies[2]["contents"][:3] == server.bodies[1]["contents"]


async def test_the_server_of_these_tests_refuses_a_changed_signature() -> None:
    server = GeminiServer([chunk(CALL_A, finish="STOP")], [DONE], [DONE])
    first = request(NEW, "Read")
    answer = await ask(first, server)
    for metadata in (None, {"google": {"thoughtSignature": "b3RoZXI="}}):
        call = ToolCall("1", "read", {"path": "a"}, metadata)
        result = ToolResultMessage("1", "read", "alpha")
        wrong = replace(first, messages=(*first.messages, AssistantMessage((call,)), result))
        assert isinstance((await ask(wrong, server)).failed.error, BadRequest)
    assert (await ask(go_on(first, answer), server)).text == "Done."


async def test_a_signature_stays_with_the_text_it_came_with() -> None:
    server = GeminiServer(
        [
            chunk({"text": "Thought", "thought": True}),
            chunk({"text": "It says "}),
            chunk({"text": "alpha.", "thoughtSignature": "QQ=="}),
            chunk({"text": "More."}),
            chunk({"text": "", "thoughtSignature": "Qg=="}, finish="STOP"),
        ],
        [DONE],
    )
    first = request(NEW, "Hi")
    await ask(go_on(first, await ask(first, server), "And now?"), server)
    assert server.bodies[1]["contents"][1]["parts"] == [
        {"text": "Thought", "thought": True},
        {"text": "It says alpha.", "thoughtSignature": "QQ=="},
        {"text": "More.", "thoughtSignature": "Qg=="},
    ]


async def test_an_empty_text_that_is_signed_goes_back() -> None:
    server = GeminiServer(
        [
            chunk({"text": "T", "thought": True}),
            chunk({"text": "", "thoughtSignature": "QQ=="}, finish="STOP"),
        ],
        [DONE],
    )
    first = request(NEW, "Hi")
    await ask(go_on(first, await ask(first, server), "And now?"), server)
    assert server.bodies[1]["contents"][1]["parts"] == [
        {"text": "T", "thought": True},
        {"text": "", "thoughtSignature": "QQ=="},
    ]


async def test_files_of_a_prompt_are_inline() -> None:
    server = GeminiServer([DONE])
    await ask(request(NEW, UserMessage((Text("What?"), PNG, PDF))), server)
    assert server.bodies[0]["contents"][0]["parts"] == [
        {"text": "What?"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
    ]


@pytest.mark.parametrize(("one", "inside"), [(NEW, True), (OLD, False)])
async def test_files_of_a_result_are_inside_of_it_from_gemini_3_on(one: Any, inside: bool) -> None:
    server = GeminiServer([chunk(CALL_A, finish="STOP")], [DONE], is_new=inside)
    first = request(one, "Read")
    await ask(go_on(first, await ask(first, server), files=(PNG,)), server)
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    answer, *more = server.bodies[1]["contents"][2:]
    nested = answer["parts"][0]["functionResponse"].get("parts")
    assert (nested, more) == (
        ([picture], [])
        if inside
        else (
            None,
            [{"role": "user", "parts": [{"text": "Attached media from tool result:"}, picture]}],
        )
    )


async def test_it_knows_why_the_model_stopped(subtests: pytest.Subtests) -> None:
    cases = [
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("RECITATION", FinishReason.CONTENT_FILTER),
        ("PROHIBITED_CONTENT", FinishReason.CONTENT_FILTER),
        ("OTHER", FinishReason.UNKNOWN),
    ]
    for word, reason in cases:
        with subtests.test(word=word):
            answer = await ask(
                request(NEW, "Hi"), GeminiServer([chunk({"text": "A"}, finish=word)])
            )
            assert answer.finished.reason is reason


async def test_a_spoiled_call_is_asked_for_again() -> None:
    answer = await ask(request(NEW, "Hi"), GeminiServer([chunk(finish="MALFORMED_FUNCTION_CALL")]))
    assert answer.failed.error.retryable


async def test_a_refused_prompt_is_content_that_was_filtered() -> None:
    frame = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}
    answer = await ask(request(NEW, "Hi"), GeminiServer([frame]))
    assert answer.finished == Finished(FinishReason.CONTENT_FILTER, Usage(input_tokens=5))


async def test_an_error_in_the_stream_is_one(subtests: pytest.Subtests) -> None:
    cases = [
        ("UNAVAILABLE", ServerError),
        ("INTERNAL", ServerError),
        ("RESOURCE_EXHAUSTED", RateLimited),
        ("INVALID_ARGUMENT", BadRequest),
        ("UNAUTHENTICATED", AuthError),
    ]
    for status, leaf in cases:
        with subtests.test(status=status):
            frame = {"error": {"code": 1, "message": "No.", "status": status}}
            answer = await ask(request(NEW, "Hi"), GeminiServer([chunk({"text": "A"}), frame]))
            assert type(answer.failed.error) is leaf


@pytest.mark.parametrize("cut", [True, False])
async def test_an_answer_without_an_end_was_cut(cut: bool) -> None:
    answer = await ask(request(NEW, "Hi"), GeminiServer(sse(chunk({"text": "A"}), cut=cut)))
    assert isinstance(answer.failed.error, NetworkError)


async def test_odd_frames_are_at_worst_a_failure(subtests: pytest.Subtests) -> None:
    cases = [
        {"candidates": [3]},
        {"candidates": {"a": 1}},
        {"candidates": [{"content": [], "finishReason": {}}]},
        {"candidates": [{"content": {"parts": ["x", 3]}}]},
        {"candidates": [{"content": {"parts": [{"text": 3, "thoughtSignature": 4}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": "x", "name": 3}}]}}]},
        {"usageMetadata": {"promptTokenCount": "many"}},
        {"promptFeedback": "no"},
    ]
    for frame in cases:
        with subtests.test(frame=frame):
            answer = await ask(request(NEW, "Hi"), GeminiServer(sse(frame)))
            assert answer.end is not None


async def test_options_have_their_place() -> None:
    options: Any = {
        "thinkingConfig": {"thinkingBudget": 5, "includeThoughts": True},
        "safetySettings": [{"category": "x", "threshold": "y"}],
        "custom": 1,
        "maxTokens": 77,
    }
    server = GeminiServer([DONE])
    asked = request(replace(OLD, options=options), "Hi", temperature=0.5, top_p=0.9, top_k=4)
    await ask(replace(asked, tool_choice="required"), server)
    body = server.bodies[0]
    assert body["generationConfig"] == {
        "maxOutputTokens": 77,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 4,
        "thinkingConfig": options["thinkingConfig"],
    }
    assert body["safetySettings"] == options["safetySettings"]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert body["systemInstruction"] == {"parts": [{"text": "You help."}]}
    assert "custom" not in body


async def test_what_other_vendors_have_signed_stays_here() -> None:
    said = AssistantMessage(
        (
            Reasoning("Hm.", {"anthropic": {"signature": "s"}}),
            Reasoning("", {"openai": {"reasoningEncryptedContent": "e"}}),
            Text("", {"openai": {"itemId": "i"}}),
            ToolCall("toolu_1", "read", {"path": "a"}, {"openai": {"itemId": "i"}}),
        )
    )
    server = GeminiServer([DONE])
    await ask(request(NEW, "Hi", said, ToolResultMessage("toolu_1", "read", "alpha")), server)
    assert server.bodies[0]["contents"][1]["parts"] == [
        {"text": "Hm.", "thought": True},
        {"functionCall": {"name": "read", "args": {"path": "a"}}},
    ]


async def test_an_instruction_in_the_middle_stays_at_its_place() -> None:
    server = GeminiServer([DONE])
    await ask(request(NEW, "Hi", SystemMessage("Be brief."), "And now?"), server)
    texts = [part["text"] for c in server.bodies[0]["contents"] for part in c["parts"]]
    assert texts[0] == "Hi"
    assert "Be brief." in texts[1]


async def test_gemma_reads_the_system_text_from_a_person() -> None:
    server = GeminiServer([DONE])
    await ask(request(model("@ai-sdk/google", "gemma-3-27b-it"), "Hi", tools=()), server)
    assert "systemInstruction" not in server.bodies[0]
    assert server.bodies[0]["contents"][0] == {"role": "user", "parts": [{"text": "You help."}]}


async def test_the_address_of_googles_imitation_is_mended() -> None:
    server = GeminiServer([DONE])
    url = "https://generativelanguage.googleapis.com/v1beta/openai/"
    await ask(request(replace(NEW, base_url=url), "Hi"), server)
    assert (
        server.requests[0].url.path == "/v1beta/models/gemini-3-pro-preview:streamGenerateContent"
    )


async def test_opencodes_gateway_gets_headers_of_its_own() -> None:
    server = GeminiServer([DONE])
    zen = model(
        "@ai-sdk/google", "gemini-3-flash", "opencode", base_url="https://opencode.ai/zen/v1"
    )
    await ask(request(zen, "Hi"), server)
    assert str(server.requests[0].url).startswith(
        "https://opencode.ai/zen/v1/models/gemini-3-flash:"
    )
    assert server.requests[0].headers["x-opencode-session"] == "ses_1"
    assert "x-session-id" not in server.requests[0].headers


PARTS = st.one_of(
    st.fixed_dictionaries({"text": st.text(min_size=1, max_size=5)}),
    st.fixed_dictionaries({"text": st.text(max_size=5), "thought": st.just(True)}),
    st.fixed_dictionaries({"text": st.text(max_size=3), "thoughtSignature": st.just("QQ==")}),
    st.fixed_dictionaries(
        {
            "functionCall": st.fixed_dictionaries(
                {
                    "name": st.just("read"),
                    "args": st.dictionaries(st.text(max_size=2), st.integers()),
                }
            ),
            "thoughtSignature": st.just("Qg=="),
        }
    ),
)


@given(st.lists(PARTS, max_size=6))
def test_what_was_read_is_written_and_read_the_same(parts: list[Any]) -> None:
    def decoded(frames: list[Any]) -> AssistantMessage:
        decoder = protocol.decoder(asked)
        events = [event for frame in frames for event in decoder.feed(frame)]
        return Answer([*events, *decoder.end()]).message

    protocol, asked = Gemini(), request(NEW, "Hi")
    message = decoded([*(chunk(part) for part in parts), chunk(finish="STOP")])
    contents: Any = protocol.encode(replace(asked, messages=(message,)))["contents"]
    written = contents[0]["parts"] if contents else []
    again = decoded([*(chunk(part) for part in written), chunk(finish="STOP")])
    second: Any = protocol.encode(replace(asked, messages=(again,)))["contents"]
    assert second == contents
