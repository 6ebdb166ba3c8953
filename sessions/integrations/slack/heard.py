"""What Slack sends, read: messages, commands, pressed buttons and filled-in forms.

Slack vouches for who did it and where; every word is a stranger's.

Source: https://docs.slack.dev/apis/events-api/, https://docs.slack.dev/interactivity/ and
https://docs.slack.dev/reference/interaction-payloads/
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from opencode_web.lib.json import JsonObject, JsonValue, object_of, text_of
from opencode_web.lib.text import clean_text

MAX_TEXT_CHARS = 40_000
MAX_FILES = 10
_MAX_ID_CHARS, _MAX_VALUE_CHARS = 40, 2000
_ID = re.compile(r"[A-Za-z0-9]{2,20}")
_TS = re.compile(r"[0-9]{6,16}\.[0-9]{1,10}")
# `<@U1|bob>`, `<#C1|till>`, `<!here>` and `<https://…|words>`, as Slack writes them.
_MARK = re.compile(r"<([@#!]?)([^|<>]*)(?:\|([^<>]*))?>")


class Kind(StrEnum):
    """What somebody did."""

    MESSAGE = "message"
    COMMAND = "command"
    ACTION = "action"
    FORM = "form"
    HOME = "home"
    LINK = "link"


@dataclass(frozen=True)
class SlackFile:
    """A file in a message. `url` is Slack's own address of it."""

    name: str
    type: str
    size: int
    url: str


@dataclass(frozen=True)
class SlackHeard:
    """`key` is Slack's name of what it sends, the same when it is sent again.

    `workspace` is the one that the person is of, `user` and `name` who it is. `thread` is the time
    of the message that a thread begins with. `value` has what a button or a form stands for,
    `trigger` what a modal may be opened with for three seconds.
    """

    kind: Kind
    key: str
    workspace: str
    user: str
    name: str = ""
    channel: str = ""
    is_direct: bool = False
    ts: str = ""
    thread: str = ""
    text: str = ""
    action: str = ""
    value: str = ""
    trigger: str = field(default="", repr=False)
    answer_url: str = field(default="", repr=False)
    files: tuple[SlackFile, ...] = ()
    # The answers of a form, by the number of its question.
    answers: tuple[tuple[str, ...], ...] = ()
    links: tuple[str, ...] = ()


def read_event(payload: JsonObject, *, bot_user: str) -> SlackHeard | None:
    """Returns: None for what is nothing to us, as messages of programs are."""
    event, event_id = object_of(payload, "event"), _id(payload.get("event_id"))
    if not event_id:
        return None
    of = _id(event.get("user_team")) or _id(event.get("team")) or _id(payload.get("team_id"))
    user, kind = _id(event.get("user")), text_of(event, "type")
    if kind == "link_shared":
        return SlackHeard(
            Kind.LINK,
            event_id,
            of,
            user,
            channel=_id(event.get("channel")),
            ts=_ts(event.get("message_ts")),
            links=tuple(
                text_of(one, "url")[:_MAX_VALUE_CHARS]
                for one in _objects(event.get("links"))[:MAX_FILES]
            ),
        )
    if not user or user == bot_user or event.get("bot_id"):
        return None
    if kind == "app_home_opened" and event.get("tab") == "home":
        return SlackHeard(Kind.HOME, event_id, of, user)
    return _message(event, SlackHeard(Kind.MESSAGE, event_id, of, user), bot_user=bot_user)


def _message(event: JsonObject, by: SlackHeard, *, bot_user: str) -> SlackHeard | None:
    kind, channel, ts = text_of(event, "type"), _id(event.get("channel")), _ts(event.get("ts"))
    is_direct = kind == "message" and event.get("channel_type") == "im"
    is_new = text_of(event, "subtype") in ("", "file_share")
    if not (channel and ts and is_new and (is_direct or kind == "app_mention")):
        return None
    return replace(
        by,
        channel=channel,
        is_direct=is_direct,
        ts=ts,
        thread=_ts(event.get("thread_ts")) or ts,
        text=plain(text_of(event, "text"), bot_user=bot_user),
        files=tuple(_files(event.get("files"))),
    )


def read_command(form: JsonObject) -> SlackHeard | None:
    """Read a slash command."""
    name, user, channel = (
        text_of(form, "command"),
        _id(form.get("user_id")),
        _id(form.get("channel_id")),
    )
    trigger = text_of(form, "trigger_id")[:200]
    if name not in ("/opencode", "/opencode-sessions") or not (user and channel and trigger):
        return None
    return SlackHeard(
        Kind.COMMAND,
        trigger,
        _id(form.get("team_id")),
        user,
        _name(form.get("user_name")),
        channel,
        is_direct=text_of(form, "channel_name") == "directmessage",
        text=plain(text_of(form, "text")),
        action=name,
        trigger=trigger,
        answer_url=text_of(form, "response_url")[:_MAX_VALUE_CHARS],
    )


def read_interaction(payload: JsonObject) -> SlackHeard | None:
    """Read a pressed button or a form that was sent."""
    person = object_of(payload, "user")
    user = _id(person.get("id"))
    of = _id(person.get("team_id")) or _id(object_of(payload, "team").get("id"))
    name = _name(person.get("username") or person.get("name"))
    trigger = text_of(payload, "trigger_id")[:200]
    if not user or not trigger:
        return None
    if payload.get("type") == "view_submission":
        view = object_of(payload, "view")
        return SlackHeard(
            Kind.FORM,
            trigger,
            of,
            user,
            name,
            action=text_of(view, "callback_id")[:_MAX_ID_CHARS],
            value=text_of(view, "private_metadata")[:_MAX_VALUE_CHARS],
            answers=_answers(object_of(object_of(view, "state"), "values")),
        )
    pressed = _objects(payload.get("actions"))
    if payload.get("type") != "block_actions" or not pressed:
        return None
    message = object_of(payload, "message")
    ts = _ts(message.get("ts"))
    return SlackHeard(
        Kind.ACTION,
        trigger,
        of,
        user,
        name,
        _id(object_of(payload, "channel").get("id")),
        ts=ts,
        thread=_ts(message.get("thread_ts")) or ts,
        action=text_of(pressed[0], "action_id")[:_MAX_ID_CHARS],
        value=text_of(pressed[0], "value")[:_MAX_VALUE_CHARS],
        trigger=trigger,
        answer_url=text_of(payload, "response_url")[:_MAX_VALUE_CHARS],
    )


def plain(text: str, *, bot_user: str = "") -> str:
    """Returns: the text as it was written, without the mention of the app, and unescaped."""

    def written(found: re.Match[str]) -> str:
        sign, what, shown = found.groups()
        if sign == "@":
            return "" if what == bot_user else f"@{shown or what}"
        if sign == "#":
            return f"#{shown or what}"
        if sign == "!":
            return f"@{shown or what}"
        return what

    text = _MARK.sub(written, text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return clean_text(text).strip()[:MAX_TEXT_CHARS]


def _answers(values: JsonObject) -> tuple[tuple[str, ...], ...]:
    """Returns: for each question what was chosen, as `#` and its number, and what was written,
    after `=`. The blocks of the questions are `q0`, `t0`, …"""
    numbers = [int(name[1:]) for name in values if re.fullmatch(r"[qt][0-9]{1,2}", name)]
    found = []
    for number in range(max(numbers, default=-1) + 1):
        chosen: list[str] = []
        for block in (f"q{number}", f"t{number}"):
            element = next((one for one in object_of(values, block).values()), None)
            if isinstance(element, dict):
                chosen += _chosen(element)
        found.append(tuple(chosen))
    return tuple(found)


def _chosen(element: JsonObject) -> list[str]:
    one = object_of(element, "selected_option")
    several = _objects(element.get("selected_options"))
    chosen = [f"#{text_of(option, 'value')}" for option in ([one] if one else several)]
    written = clean_text(text_of(element, "value")).strip()
    return [*chosen, *([f"={written[:_MAX_VALUE_CHARS]}"] if written else [])]


def _files(value: JsonValue) -> list[SlackFile]:
    found = []
    for one in _objects(value)[:MAX_FILES]:
        size = one.get("size")
        found.append(
            SlackFile(
                name=clean_text(text_of(one, "name"))[:200] or "file",
                type=text_of(one, "mimetype")[:100],
                size=size if isinstance(size, int) else 0,
                url=text_of(one, "url_private_download")[:_MAX_VALUE_CHARS],
            )
        )
    return found


def _objects(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _id(value: JsonValue) -> str:
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _ts(value: JsonValue) -> str:
    return value if isinstance(value, str) and _TS.fullmatch(value) else ""


def _name(value: JsonValue) -> str:
    return clean_text(value)[:100] if isinstance(value, str) else ""
