from __future__ import annotations

from decimal import Decimal
from typing import Any

from providers.llm.events import Failed, Finished
from providers.llm.facts import Limit
from providers.llm.messages import (
    AssistantMessage,
    File,
    Reasoning,
    ResolvedModel,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
)
from tests.providers.llm.conversation import answered, model_of, play, request_of
from tests.providers.llm.servers_responses import ResponsesServer, answer, call, message, reasoning

PNG = File("image/png", "data:image/png;base64,iVBORw0K", "pic.png")
PDF = File("application/pdf", "data:application/pdf;base64,JVBERi0x", "doc.pdf")


def xai(**fields: Any) -> ResolvedModel:
    fields.setdefault("limit", Limit(1_000_000, 30_000))
    return model_of("@ai-sdk/xai", "xai", "grok-4.3", **fields)


async def test_the_request_is_what_xai_is_sent() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")), is_xai=True)
    await answered(request_of(xai(), temperature=0.3), server)
    body = server.bodies[0]
    assert str(server.requests[0].url) == "https://api.x.ai/v1/responses"
    parameters = body["tools"][0]["parameters"]
    assert parameters["$schema"]
    assert "additionalProperties" not in parameters
    assert "strict" not in body["tools"][0]
    assert body["input"][0] == {"role": "system", "content": "Be terse.\nBe kind."}
    assert body["max_output_tokens"] == 30_000
    assert body["temperature"] == 0.3


async def test_two_steps_go_back_as_they_came() -> None:
    server = ResponsesServer(
        answer(reasoning(0, "Hm."), message(1, "I read."), call(2, "read", '{"filePath": "/a"}')),
        answer(message(0, "Done.")),
        is_xai=True,
    )
    said = await answered(request_of(xai()), server)
    assert said.content == (
        Reasoning("Hm.", {"xai": {"itemId": "rs_0", "reasoningEncryptedContent": "sealed-0"}}),
        Text("I read."),
        ToolCall("call_2", "read", {"filePath": "/a"}),
    )
    results = ToolResultMessage("call_2", "read", "no", is_error=True)
    await answered(request_of(xai(), "Hello", said, results, SystemMessage("New.")), server)
    assert server.bodies[1]["input"][2:] == [
        {
            "type": "reasoning",
            "id": "rs_0",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "status": "completed",
            "encrypted_content": "sealed-0",
        },
        {"role": "assistant", "content": "I read."},
        {
            "type": "function_call",
            "id": "call_2",
            "call_id": "call_2",
            "name": "read",
            "arguments": '{"filePath":"/a"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "call_2", "output": "no"},
        {"role": "system", "content": "New."},
    ]


async def test_reasoning_of_openai_is_left_out() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")), is_xai=True)
    strange = Reasoning("Hm.", {"openai": {"itemId": "rs_0", "reasoningEncryptedContent": "x"}})
    history = AssistantMessage((strange, Text("Said.")))
    await answered(request_of(xai(), "Hello", history, "More."), server)
    assert server.bodies[0]["input"][2] == {"role": "assistant", "content": "Said."}


async def test_files_of_tools_follow_in_a_message_of_the_users() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")), is_xai=True)
    history = (
        AssistantMessage((ToolCall("c1", "read", {}),)),
        ToolResultMessage("c1", "read", "Read.", files=(PNG, PDF)),
    )
    await answered(request_of(xai(), "Read.", *history), server)
    assert server.bodies[0]["input"][-1]["content"][1:] == [
        {"type": "input_image", "image_url": PNG.data_url},
        {"type": "input_file", "filename": "file", "file_data": PDF.data_url},
    ]


async def test_a_length_that_is_exceeded_is_no_failure_and_an_error_is_one() -> None:
    cut = answer(message(0, "x"), status="incomplete")
    error = [{"type": "error", "code": "server_error", "message": "Down."}]
    server = ResponsesServer(cut, error, is_xai=True)
    assert isinstance((await play(request_of(xai()), server))[-1], Finished)
    assert isinstance((await play(request_of(xai()), server))[-1], Failed)


async def test_it_says_what_it_bills_in_ticks() -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cost_in_usd_ticks": 37_756_000}
    server = ResponsesServer(answer(message(0, "Hi."), usage=usage), is_xai=True)
    events = await play(request_of(xai()), server)
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.billed == Decimal("0.0037756")
