"""Providers that run on loopback: they speak the three wires, play what they are told, remember.

    with OpenAIServer([Reply(text="Hello")]) as server:
        ... server.base_url ... server.requests[0].json ...

Each request takes the next reply; the last one stays. A function from request to reply works, too.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar

from tests.providers.replies import Call as Call
from tests.providers.replies import Json, Reply, pieces
from tests.providers.responses import events_of, items_of, usage_of


@dataclass(frozen=True)
class Request:
    """What a server was sent."""

    path: str
    headers: dict[str, str]
    json: Json


Responder = Callable[[Request], Reply]


class VendorServer:
    """Runs in a thread of its own on a free port from `with` to its end."""

    wire: ClassVar[str]
    suffix: ClassVar[str] = "/v1"
    content_type: ClassVar[str] = "text/event-stream"

    def __init__(
        self, replies: Sequence[Reply] | Responder = (), *, keep_alive: bool = False
    ) -> None:
        self._replies = replies
        self._keep_alive = keep_alive
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.streaming = threading.Event()
        """Set when the first chunk of an answer has left."""
        self.disconnected = threading.Event()
        """Set when a client went away before the answer's end."""

    def __enter__(self) -> VendorServer:
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.suffix}"

    @property
    def keep_alive(self) -> bool:
        return self._keep_alive

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if callable(self._replies):
                return self._replies(request)
            position = min(len(self.requests), len(self._replies)) - 1
            return self._replies[position] if self._replies else Reply(text="ok")

    def is_streamed(self, request: Request) -> bool:
        return bool(request.json.get("stream"))

    def frames(self, reply: Reply) -> Iterator[bytes]:
        raise NotImplementedError

    def whole(self, reply: Reply) -> Json:
        raise NotImplementedError


class OpenAIServer(VendorServer):
    """POST /v1/chat/completions, as OpenAI and its imitators answer it."""

    wire = "openai"

    def frames(self, reply: Reply) -> Iterator[bytes]:
        yield data_frame(_chunk({"role": "assistant", "content": ""}))
        for thought in self.thoughts(reply):
            yield data_frame(_chunk(thought))
        for piece in pieces(reply.text, reply):
            yield data_frame(_chunk({"content": piece}))
        for index, call in enumerate(reply.calls):
            head = {"name": call.name, "arguments": ""}
            start = {"index": index, "id": call.id, "type": "function", "function": head}
            yield data_frame(_chunk({"tool_calls": [start]}))
            for piece in pieces(call.text, reply):
                delta = {"index": index, "function": {"arguments": piece}}
                yield data_frame(_chunk({"tool_calls": [delta]}))
        if reply.stream_error is not None:
            yield data_frame({"error": reply.stream_error})
            return
        finish = reply.finish or ("tool_calls" if reply.calls else "stop")
        yield data_frame(_chunk({}, finish=finish))
        yield data_frame({**_chunk({}), "choices": [], "usage": _openai_usage(reply)})
        yield b"data: [DONE]\n\n"

    def thoughts(self, reply: Reply) -> Iterator[Json]:
        """Deltas with what it thinks."""
        for piece in pieces(reply.reasoning, reply):
            yield {"reasoning_content": piece}

    def whole(self, reply: Reply) -> Json:
        message = {"role": "assistant", "content": reply.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [choice], "usage": _openai_usage(reply),
        }  # fmt: skip


class ResponsesServer(VendorServer):
    """POST /v1/responses, as OpenAI answers it."""

    wire = "responses"

    def frames(self, reply: Reply) -> Iterator[bytes]:
        whole = self.whole(reply)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        events: list[tuple[str, Json]] = [
            ("response.created", {"response": begun}),
            ("response.in_progress", {"response": begun}),
            *(event for place, item in enumerate(whole["output"])
              for event in events_of(place, item, reply)),
        ]  # fmt: skip
        if reply.stream_error is not None:
            error = {"code": "server_error", "param": None, **reply.stream_error}
            events.append(("error", error))
        else:
            events.append((f"response.{whole['status']}", {"response": whole}))
        for number, (kind, fields) in enumerate(events):
            yield _event(kind, sequence_number=number, **fields)

    def whole(self, reply: Reply) -> Json:
        is_cut = reply.finish == "length"
        return {
            "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "error": None,
            "status": "incomplete" if is_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "output": list(items_of(reply)), "usage": usage_of(reply),
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "store": False,
        }  # fmt: skip


class AnthropicServer(VendorServer):
    """POST /v1/messages, as Anthropic answers it."""

    wire = "anthropic"

    def frames(self, reply: Reply) -> Iterator[bytes]:
        usage = {
            "input_tokens": reply.input_tokens,
            "cache_read_input_tokens": reply.cache_read_tokens,
            "cache_creation_input_tokens": reply.cache_write_tokens,
            "output_tokens": 1,
        }
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                   "content": [], "stop_reason": None, "usage": usage}  # fmt: skip
        yield _event("message_start", message=message)
        yield _event("ping")
        for index, (block, deltas) in enumerate(_anthropic_blocks(reply)):
            yield _event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        if reply.stream_error is not None:
            yield _event("error", error=reply.stream_error)
            return
        stop = reply.finish or ("tool_use" if reply.calls else "end_turn")
        output = {"output_tokens": reply.output_tokens}
        yield _event("message_delta", delta={"stop_reason": stop}, usage=output)
        yield _event("message_stop")

    def whole(self, reply: Reply) -> Json:
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": reply.text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens},
        }  # fmt: skip


def _anthropic_blocks(reply: Reply) -> Iterator[tuple[Json, list[Json]]]:
    if reply.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(reply.reasoning, reply)]
        deltas.append({"type": "signature_delta", "signature": reply.signature})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if reply.redacted:
        yield {"type": "redacted_thinking", "data": reply.redacted}, []
    if reply.text:
        deltas = [{"type": "text_delta", "text": p} for p in pieces(reply.text, reply)]
        yield {"type": "text", "text": ""}, deltas
    for call in reply.calls:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield (
            block,
            [{"type": "input_json_delta", "partial_json": p} for p in pieces(call.text, reply)],
        )


class _Handler(BaseHTTPRequestHandler):
    server_of: ClassVar[VendorServer]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {key.lower(): value for key, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(body or b"{}"))
        reply = self.server_of.reply_to(request)
        try:
            if reply.status != 200:
                self._send_whole(reply.status, reply.error, reply.headers)
            elif not self.server_of.is_streamed(request):
                self._send_whole(200, self.server_of.whole(reply), reply.headers)
            else:
                self._send_stream(reply)
        except OSError:
            self.close_connection = True
            self.server_of.disconnected.set()

    def _send_whole(self, status: int, content: Json | str | None, headers: dict[str, str]) -> None:
        is_text = isinstance(content, str)
        body = (content if isinstance(content, str) else json.dumps(content or {})).encode()
        self._send_head(status, "text/html" if is_text else "application/json", headers, len(body))
        self.wfile.write(body)

    def _send_head(
        self, status: int, kind: str, headers: dict[str, str], length: int | None
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is None:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(length))
        if not self.server_of.keep_alive:
            # Nothing stays open in the client's pool, so no test has to close it.
            self.send_header("connection", "close")
            self.close_connection = True
        self.end_headers()

    def _send_stream(self, reply: Reply) -> None:
        self._send_head(200, self.server_of.content_type, reply.headers, None)
        for count, frame in enumerate(self.server_of.frames(reply)):
            if count == reply.cut_after:
                self.close_connection = True
                return
            if count == reply.end_after:
                break
            time.sleep(reply.chunk_delay_s)
            self.wfile.write(f"{len(frame):x}\r\n".encode() + frame + b"\r\n")
            self.wfile.flush()
            self.server_of.streaming.set()
        self.wfile.write(b"0\r\n\r\n")


def data_frame(value: Json) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\n".encode() + data_frame({"type": kind, **fields})


def _chunk(delta: Json, *, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice]}  # fmt: skip


def _openai_usage(reply: Reply) -> Json:
    prompt = reply.input_tokens + reply.cache_read_tokens + reply.cache_write_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply.output_tokens + reply.reasoning_tokens,
        "total_tokens": prompt + reply.output_tokens + reply.reasoning_tokens,
        "prompt_tokens_details": {
            "cached_tokens": reply.cache_read_tokens,
            "cache_write_tokens": reply.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
    }
