from __future__ import annotations

from collections.abc import Iterator

from tests.providers.replies import Json, Reply, pieces


def items_of(reply: Reply) -> Iterator[Json]:
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        yield {"type": "reasoning", "id": "rs_1", "summary": summary,
               "encrypted_content": reply.signature}  # fmt: skip
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}]
        yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
               "content": content}  # fmt: skip
    for number, call in enumerate(reply.calls, 1):
        yield {"type": "function_call", "id": f"fc_{number}", "call_id": call.id,
               "name": call.name, "arguments": call.text, "status": "completed"}  # fmt: skip


def events_of(place: int, item: Json, reply: Reply) -> Iterator[tuple[str, Json]]:
    where = {"item_id": item["id"], "output_index": place}
    begun = {**item, "status": "in_progress"}
    added, done = "response.output_item.added", "response.output_item.done"
    match item["type"]:
        case "reasoning":
            begun = {**item, "summary": [], "encrypted_content": ""}
            yield added, {"output_index": place, "item": begun}
            part, kind = {**where, "summary_index": 0}, "response.reasoning_summary_"
            empty = {"type": "summary_text", "text": ""}
            yield f"{kind}part.added", {**part, "part": empty}
            for piece in pieces(reply.reasoning, reply):
                yield f"{kind}text.delta", {**part, "delta": piece}
            yield f"{kind}text.done", {**part, "text": reply.reasoning}
            yield f"{kind}part.done", {**part, "part": item["summary"][0]}
        case "message":
            yield added, {"output_index": place, "item": {**begun, "content": []}}
            part, whole = {**where, "content_index": 0}, item["content"][0]
            yield "response.content_part.added", {**part, "part": {**whole, "text": ""}}
            for piece in pieces(reply.text, reply):
                delta = {**part, "delta": piece, "logprobs": []}
                yield "response.output_text.delta", delta
            text = {**part, "text": reply.text, "logprobs": []}
            yield "response.output_text.done", text
            yield "response.content_part.done", {**part, "part": whole}
        case _:
            yield added, {"output_index": place, "item": {**begun, "arguments": ""}}
            kind = "response.function_call_arguments."
            for piece in pieces(item["arguments"], reply):
                yield f"{kind}delta", {**where, "delta": piece}
            yield f"{kind}done", {**where, "arguments": item["arguments"], "name": item["name"]}
    yield done, {"output_index": place, "item": item}


def usage_of(reply: Reply) -> Json:
    read = reply.input_tokens + reply.cache_read_tokens + reply.cache_write_tokens
    written = reply.output_tokens + reply.reasoning_tokens
    return {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": reply.cache_read_tokens,
            "cache_write_tokens": reply.cache_write_tokens,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        "total_tokens": read + written,
    }
