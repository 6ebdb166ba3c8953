"""Slack on loopback: its Web API and its Socket Mode, as strict as the real ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from tests.web_server import answer, serve_any

Json = dict[str, Any]
# Not of the form of real ones, which scanners look for.
BOT, APP, SECRET = "xoxb-played-bot", "xapp-played-app", "played-signing-secret"
WORKSPACE, BOT_USER = "T0ACME", "U0AGENT"
_FORMS_ONLY = {
    *("conversations.info", "conversations.replies", "conversations.history", "users.info"),
    "files.getUploadURLExternal",
}


class Refused(Exception):
    pass


@dataclass
class FakeSlack:
    """One workspace with an app in it. `now_s` passes as tests say."""

    base: str = ""
    socket: str = ""
    now_s: float = 1_700_000_000.0
    # By name; whether the app is a member.
    channels: dict[str, bool] = field(
        default_factory=lambda: {"C0TILL": True, "C0OTHER": True, "C0AWAY": False, "D0BOB": True}
    )
    people: set[str] = field(default_factory=lambda: {"U0BOB"})
    messages: list[Json] = field(default_factory=list)
    ephemeral: list[Json] = field(default_factory=list)
    responses: list[Json] = field(default_factory=list)
    homes: dict[str, Json] = field(default_factory=dict)
    modals: list[Json] = field(default_factory=list)
    unfurls: list[Json] = field(default_factory=list)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    uploads: dict[str, Json] = field(default_factory=dict)
    triggers: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    # Whether the next message is kept and the answer lost.
    loses_answer: bool = False
    # Where it sends whoever calls.
    redirect: str = ""
    # Seconds for which the next calls have to wait.
    limits: list[int] = field(default_factory=list)
    # What the next connection of Socket Mode sends, and which envelopes were acknowledged.
    envelopes: list[Json] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    connections: int = 0
    edited_at: dict[str, float] = field(default_factory=dict)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        name = handler.path.partition("?")[0].removeprefix("/api/")
        if handler.path.startswith("/files/"):
            self._file(handler)
        elif handler.path.startswith("/respond/"):
            self._response(json.loads(body))
            answer(b"ok")(handler)
        elif handler.path.startswith("/upload/"):
            file = self.uploads[handler.path.removeprefix("/upload/")]
            file["content"] = body if len(body) == int(file["length"]) else b""
            answer(b"OK")(handler)
        elif self.redirect:
            answer(status=307, location=self.redirect)(handler)
        elif self.limits:
            wait = str(self.limits.pop(0))
            answer(b'{"ok":false,"error":"ratelimited"}', status=429, retry_after=wait)(handler)
        else:
            self.calls.append(name)
            said = self._call(name, handler.headers, body)
            writes = name in ("chat.postMessage", "files.completeUploadExternal")
            if said.get("ok") and writes and self.loses_answer:
                self.loses_answer = False
                handler.close_connection = True
                return
            status = 429 if said.get("error") == "ratelimited" else 200
            after = {"retry_after": "1"} if status == 429 else {}
            sent = json.dumps(said).encode()
            answer(sent, status=status, content_type="application/json", **after)(handler)

    def _call(self, name: str, headers: Message, body: bytes) -> Json:
        kind = str(headers.get("content-type", "")).partition(";")[0]
        token = str(headers.get("authorization", "")).removeprefix("Bearer ")
        try:
            if kind == "application/json" and name not in _FORMS_ONLY:
                args = json.loads(body)
            else:
                args = {key: found[0] for key, found in parse_qs(body.decode()).items()}
                token = args.pop("token", token)
            return {"ok": True, **self._do(name, token, args)}
        except Refused as exc:
            return {"ok": False, "error": str(exc)}

    def _do(self, name: str, token: str, args: Json) -> Json:
        if token not in (BOT, APP):
            raise Refused("invalid_auth" if token else "not_authed")
        if (name == "apps.connections.open") != (token == APP):
            raise Refused("not_allowed_token_type")
        known: dict[str, Callable[[Json], Json]] = {
            "auth.test": lambda _: self._whoami(),
            "apps.connections.open": lambda _: {"url": self.socket},
            "chat.postMessage": self._post,
            "chat.postEphemeral": self._post_ephemeral,
            "chat.update": self._update,
            "chat.unfurl": self._unfurl,
            "conversations.info": self._info,
            "conversations.replies": self._replies,
            "conversations.history": self._replies,
            "users.info": self._user,
            "files.getUploadURLExternal": self._upload,
            "files.completeUploadExternal": self._share,
            "views.open": self._open,
            "views.publish": self._publish,
        }
        if name not in known:
            raise Refused("unknown_method")
        return known[name](args)

    def _whoami(self) -> Json:
        return {"team": "Acme", "team_id": WORKSPACE, "user": "opencode", "user_id": BOT_USER}

    def _channel(self, args: Json) -> str:
        channel = str(args.get("channel", ""))
        if channel not in self.channels:
            raise Refused("channel_not_found")
        if not self.channels[channel]:
            raise Refused("not_in_channel")
        return channel

    def _post(self, args: Json) -> Json:
        # An account stands for its conversation with the app.
        if str(args.get("channel")) in self.people:
            args = {**args, "channel": f"D{args['channel'][1:]}"}
        channel = self._channel(args)
        _judge_message(args)
        thread = args.get("thread_ts")
        if thread and not any(one["ts"] == thread for one in self.messages):
            raise Refused("thread_not_found")
        ts = self.person_says("", channel=channel, thread=thread or "")
        self.messages[-1] |= {**args, "user": BOT_USER, "bot_id": "B0AGENT", "ts": ts}
        return {"channel": channel, "ts": ts, "message": self.messages[-1]}

    def person_says(self, text: str, *, channel: str, thread: str = "") -> str:
        """Returns: the time of a message that somebody has written."""
        self.now_s += 1
        ts = f"{self.now_s:.6f}"
        more = {"thread_ts": thread} if thread else {}
        self.messages.append({"ts": ts, "channel": channel, "text": text, "user": "U0BOB", **more})
        return ts

    def _post_ephemeral(self, args: Json) -> Json:
        self._channel(args)
        _judge_message(args)
        if not str(args.get("user", "")).startswith("U"):
            raise Refused("user_not_in_channel")
        self.ephemeral.append(args)
        return {"message_ts": f"{self.now_s:.6f}"}

    def _update(self, args: Json) -> Json:
        channel = self._channel(args)
        _judge_message(args)
        found = [one for one in self.messages if one["ts"] == args.get("ts")]
        if not found or found[0]["channel"] != channel:
            raise Refused("message_not_found")
        if found[0]["user"] != BOT_USER:
            raise Refused("cant_update_message")
        ts = found[0]["ts"]
        if self.now_s - self.edited_at.get(ts, 0) < 1:
            raise Refused("ratelimited")
        self.edited_at[ts] = self.now_s
        found[0] |= {"blocks": args.get("blocks", []), "text": args["text"], "edited": True}
        return {"channel": channel, "ts": ts}

    def _unfurl(self, args: Json) -> Json:
        self._channel(args)
        for one in args["unfurls"].values():
            _judge_blocks(one["blocks"], most=50)
        self.unfurls.append(args["unfurls"])
        return {}

    def _info(self, args: Json) -> Json:
        channel = args.get("channel", "")
        if channel not in self.channels:
            raise Refused("channel_not_found")
        about = {"id": channel, "name": channel.lower(), "is_member": self.channels[channel]}
        return {"channel": about}

    def _replies(self, args: Json) -> Json:
        channel, thread = self._channel(args), args.get("ts")
        found = [one for one in self.messages if one["channel"] == channel]
        found = [one for one in found if thread in (None, one["ts"], one.get("thread_ts"))]
        if args.get("include_all_metadata") != "true":
            found = [{k: v for k, v in one.items() if k != "metadata"} for one in found]
        return {"messages": found}

    def _upload(self, args: Json) -> Json:
        if not args.get("filename") or int(args.get("length", 0)) < 1:
            raise Refused("invalid_arguments")
        file_id = f"F{len(self.uploads):08}"
        self.uploads[file_id] = args
        return {"upload_url": f"{self.base}/upload/{file_id}", "file_id": file_id}

    def _share(self, args: Json) -> Json:
        channel, thread = self._channel({"channel": args["channel_id"]}), args.get("thread_ts", "")
        for one in args["files"]:
            if not self.uploads.get(one["id"], {}).get("content"):
                raise Refused("file_not_found")
        self.person_says("", channel=channel, thread=thread)
        self.messages[-1] |= {"user": BOT_USER, "bot_id": "B0AGENT", "files": args["files"]}
        return {"files": args["files"]}

    def _user(self, args: Json) -> Json:
        user = str(args.get("user", ""))
        if not user.startswith("U0"):
            raise Refused("user_not_found")
        return {"user": {"id": user, "name": user.lower(), "real_name": user[2:].title()}}

    def _open(self, args: Json) -> Json:
        if args.get("trigger_id") not in self.triggers:
            raise Refused("invalid_trigger_id")
        self.triggers.discard(args["trigger_id"])
        _judge_view(args["view"], "modal")
        self.modals.append(args["view"])
        return {"view": {"id": "V1"}}

    def _publish(self, args: Json) -> Json:
        _judge_view(args["view"], "home")
        self.homes[args["user_id"]] = args["view"]
        return {}

    def _response(self, said: Json) -> None:
        _judge_blocks(said.get("blocks", []), most=50)
        self.responses.append(said)

    def _file(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.removeprefix("/files/")
        if handler.headers.get("authorization") != f"Bearer {BOT}":
            answer(b"<html>Sign in</html>", content_type="text/html")(handler)
            return
        kind, content = self.files[name]
        answer(content, content_type=kind)(handler)

    def converse(self, socket: ServerConnection) -> None:
        """One connection of Socket Mode: each envelope until it is acknowledged, then the end.

        What has another one begin ends this one once the client has gone.
        """
        self.connections += 1
        socket.send(json.dumps({"type": "hello", "num_connections": 1}))
        while self.envelopes:
            sent = self.envelopes[0]
            socket.send(json.dumps(sent))
            if sent["type"] == "disconnect":
                self.envelopes.pop(0)
                with suppress(ConnectionClosed):
                    socket.recv(timeout=10)
                return
            said = json.loads(socket.recv(timeout=10))
            if said["envelope_id"] == sent["envelope_id"]:
                self.acknowledged.append(said["envelope_id"])
                self.envelopes.pop(0)


def _judge_message(args: Json) -> None:
    text, blocks = args.get("text", ""), args.get("blocks", [])
    if not text and not blocks:
        raise Refused("no_text")
    if len(text) > 40_000 or len(json.dumps(blocks)) > 200_000:
        raise Refused("msg_too_long")
    _judge_blocks(blocks, most=50)


def _judge_view(view: Json, kind: str) -> None:
    if view.get("type") != kind:
        raise Refused("invalid_arguments")
    _judge_blocks(view["blocks"], most=100)
    if kind == "modal":
        if len(view["title"]["text"]) > 24 or not view["submit"]:
            raise Refused("invalid_arguments")
        if len(view.get("private_metadata", "")) > 3000:
            raise Refused("invalid_arguments")


def _judge_blocks(blocks: list[Json], *, most: int) -> None:
    if len(blocks) > most:
        raise Refused("invalid_blocks")
    for one in blocks:
        _judge_block(one)


def _judge_block(one: Json) -> None:
    kind = one["type"]
    if kind in ("section", "header"):
        limit = 3000 if kind == "section" else 150
        _require(0 < len(one["text"]["text"]) <= limit)
        _require(kind == "section" or one["text"]["type"] == "plain_text")
    elif kind == "context":
        _require(all(each["text"] for each in one["elements"]))
    elif kind == "actions":
        names = [each["action_id"] for each in one["elements"]]
        _require(len({*names}) == len(names) and 0 < len(names) <= 25)
        for each in one["elements"]:
            _require(len(each["text"]["text"]) <= 75 and len(each["value"]) <= 2000)
            _require(each.get("style", "primary") in ("primary", "danger"))
    else:
        _require(kind == "input" and len(one["label"]["text"]) <= 2000)
        options = one["element"].get("options", [])
        _require(len(options) <= 10 and all(len(each["text"]["text"]) <= 75 for each in options))


def _require(is_fit: bool) -> None:
    if not is_fit:
        raise Refused("invalid_blocks")


@contextmanager
def slack() -> Iterator[FakeSlack]:
    """Its HTTP server and its socket server."""
    fake = FakeSlack()
    with serve_any(fake.take) as base, serve(fake.converse, "127.0.0.1", 0) as sockets:
        fake.base = base
        fake.socket = f"ws://127.0.0.1:{sockets.socket.getsockname()[1]}/link?ticket=1"
        thread = threading.Thread(target=sockets.serve_forever, daemon=True)
        thread.start()
        try:
            yield fake
        finally:
            sockets.shutdown()
            thread.join()
