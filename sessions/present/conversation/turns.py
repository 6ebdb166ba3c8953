"""Turns: a prompt and everything that followed until the next one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from urllib.parse import unquote, urlencode, urlsplit

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.ids import is_id
from opencode_web.lib.json import number_of, object_of, text_of
from sessions.changes.failed_calls import count_failed
from sessions.changes.turn_diffs import changes_of, counts_of
from sessions.commands.template import mentions
from sessions.events.mentions import people_in
from sessions.events.stored import StoredAnswer, StoredFile, StoredPrompt
from sessions.files import PICTURES, resource_of
from sessions.models import Message, Part
from sessions.present.changes.file_diff import file_id
from sessions.present.conversation.decisions import Decisions, waited_s
from sessions.present.conversation.items import Item, RenderContext, build_items, prompt_notes
from sessions.present.data import moment_of
from sessions.present.place import Place

# Of the text of one prompt.
MAX_SHOWN_CHARS = 400_000
# At the end of a turn; the rest is on the page of its changes.
LISTED_FILES = 5


@dataclass
class TurnRows:
    """The rows of one turn. Without a prompt it is what stands before the first one."""

    prompt: Message | None
    prompt_parts: list[Part] = field(default_factory=list)
    answers: list[tuple[Message, list[Part]]] = field(default_factory=list)
    decisions: Decisions = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.prompt.pk if self.prompt else f"before-{self.answers[0][0].pk}"


@dataclass(frozen=True)
class ChangedFile:
    """`old`: the name that it had before it was renamed."""

    path: str
    old: str
    added: int
    removed: int
    url: str


@dataclass(frozen=True)
class Footer:
    agent: str
    model: str
    # `provider/model`
    model_ref: str
    variant: str
    duration_s: float | None
    tokens: int
    # None where nobody knows the price.
    cost: Decimal | None
    files: int
    added: int
    removed: int
    changes_url: str
    # Of the files as many as have room.
    listed: list[ChangedFile]
    menu_url: str
    # Calls that were not made good.
    failed: int


@dataclass(frozen=True)
class Divider:
    """A compaction in place of a prompt; the summary is under it."""

    text: str
    open: bool


@dataclass(frozen=True)
class Attachment:
    """A file of a prompt; `url` only where its content came with it."""

    name: str
    url: str = ""
    is_picture: bool = False
    # Some model is not given it.
    is_refused: bool = False


@dataclass(frozen=True)
class Turn:
    id: str
    # Sequence number of its prompt: earlier turns are found from here.
    seq: int
    author: str
    time: datetime | None
    text: str
    files: list[Attachment]
    items: list[Item]
    footer: Footer | None
    # None for the turn of a prompt.
    divider: Divider | None = None
    # The server had the agent go on: nobody has said anything.
    goes_on: bool = False
    # The page at this turn, wherever it stands in the conversation.
    url: str = ""
    # Of what the text names by `@`: its address, or nothing where there is no page of it.
    mentions: dict[str, str] = field(default_factory=dict)


def split_turns(
    messages: Iterable[Message], parts: Iterable[Part], decisions: Decisions
) -> list[TurnRows]:
    """Both in the order of the conversation. Returns: the turns, oldest first."""
    by_message: dict[str, list[Part]] = {}
    for part in parts:
        by_message.setdefault(part.message_id, []).append(part)
    turns: list[TurnRows] = []
    for message in messages:
        own = by_message.get(message.pk, [])
        if message.role == "user":
            turns.append(TurnRows(message, own))
            continue
        if not turns:
            turns.append(TurnRows(None))
        turns[-1].answers.append((message, own))
    for turn in turns:
        own_ids = {message.pk for message, _ in turn.answers}
        turn.decisions = {key: made for key, made in decisions.items() if key[0] in own_ids}
    return turns


def _bounded(text: str) -> str:
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    more = number_format(len(text) - MAX_SHOWN_CHARS, force_grouping=True)
    note = _("({count} more characters are not shown.)").format(count=more)
    return f"{text[:MAX_SHOWN_CHARS]}\n\n{note}"


def build_turn(rows: TurnRows, context: RenderContext, *, running: bool) -> Turn:
    """`running`: it is the newest turn of a session that is not idle."""
    prompt, text = rows.prompt, prompt_text(rows)
    files = [_attachment(part, context) for part in rows.prompt_parts if part.type == "file"]
    info: StoredPrompt | None = prompt.data if prompt else None
    author = prompt.author.display_name if prompt and prompt.author else ""
    context = replace(context, decisions=rows.decisions, author=author)
    return Turn(
        id=rows.id,
        seq=prompt.seq if prompt else 0,
        author=_author(prompt, context.caller),
        time=moment_of(info["time"]["created"]) if info else None,
        text=_bounded(text),
        files=files,
        items=[*prompt_notes(rows.prompt_parts), *build_items(rows.answers, context)],
        footer=None if running else _footer(rows, context),
        divider=_divider(rows),
        goes_on=bool(rows.prompt_parts) and not (text or files),
        url=context.place.message_url(prompt.pk, turn=rows.id) if prompt else "",
        mentions=_mentions(text, rows.prompt_parts, context.place),
    )


def prompt_text(rows: TurnRows) -> str:
    """What was typed, without what stands for files."""
    return "\n\n".join(
        part.data["prompt" if part.type == "subtask" else "text"]
        for part in rows.prompt_parts
        if part.type == "subtask" or (part.type == "text" and not part.data.get("synthetic"))
    )


def _mentions(text: str, parts: Iterable[Part], place: Place) -> dict[str, str]:
    found = dict[str, str]()
    if "@" not in text:
        return found
    for part in parts:
        people = people_in(part.data.get("metadata"))
        found |= {written.removeprefix("@"): "" for written, _ in people}
        name = part.data.get("filename", "")
        if part.type == "file" and resource_of(source := part.data.get("source")):
            written = text_of(object_of(source, "text"), "value").removeprefix("@")
            if written and written in text:
                found[written] = ""
        elif part.type == "file" and name and part.data["url"].startswith("file:"):
            found[name] = place.file_url(place.short(unquote(urlsplit(part.data["url"]).path)))
        elif part.type == "agent":
            found[part.data["name"]] = ""
    return found | {name: place.url_of(name) for name in mentions(text) if is_id(name, "ses")}


def _attachment(part: Part, context: RenderContext) -> Attachment:
    file: StoredFile = part.data
    url = file["url"]
    name = file.get("filename") or url.rpartition("/")[2][:80]
    if (named := resource_of(part.data.get("source"))) is not None:
        return Attachment(f"{name} · {named[0]}")
    own = context.place.url("attachment", part=part.pk)
    if not own or not url.startswith("data:"):
        return Attachment(name)  # a file of the project that was named
    is_picture = file["mime"] in PICTURES
    return Attachment(name, own, is_picture, is_refused=bool(file.get("refused")))


def _divider(rows: TurnRows) -> Divider | None:
    if not any(part.type == "compaction" for part in rows.prompt_parts):
        return None
    last: StoredAnswer | None = rows.answers[-1][0].data if rows.answers else None
    if last and "error" in last:
        return Divider(_("The conversation was not compacted"), open=True)
    if last is None or "completed" not in last["time"]:
        return Divider(_("Compacting the conversation"), open=True)
    return Divider(_("Conversation compacted · summary"), open=False)


def _author(prompt: Message | None, caller: str) -> str:
    if prompt is None:
        return _("Agent")
    author = prompt.author.display_name if prompt.author else ""
    if caller and author:
        return _("{agent}, for {author}").format(agent=caller.capitalize(), author=author)
    return caller.capitalize() or author or _("Someone")


def _footer(rows: TurnRows, context: RenderContext) -> Footer | None:
    if not rows.answers:
        return None
    infos: list[StoredAnswer] = [message.data for message, _ in rows.answers]
    last = infos[-1]
    start, end = infos[0]["time"]["created"], last["time"].get("completed")
    cost = sum((_cost(info) for info in infos), Decimal(0))
    changed = counts_of(rows.prompt.data if rows.prompt else {})
    return Footer(
        agent=last["agent"],
        model=context.model_name(last["providerID"], last["modelID"]),
        model_ref=f"{last['providerID']}/{last['modelID']}",
        variant=last.get("variant", ""),
        duration_s=_worked_s(start, end, rows.decisions),
        tokens=sum(_tokens(info) for info in infos),
        cost=None if context.is_partly_unpriced and not cost else cost,
        files=changed.files,
        added=changed.additions,
        removed=changed.deletions,
        changes_url=context.place.changes_url(rows.id),
        listed=_listed(rows, context.place),
        menu_url=context.place.url("turn_menu", turn=rows.id),
        failed=_count_failed(rows),
    )


def _listed(rows: TurnRows, place: Place) -> list[ChangedFile]:
    base = place.changes_url(rows.id)
    if not base or not rows.prompt:
        return []
    paths = {text_of(one, "file"): one for one in changes_of(rows.prompt.data)[:LISTED_FILES]}
    return [
        ChangedFile(
            path,
            text_of(one, "old"),
            number_of(one, "additions") or 0,
            number_of(one, "deletions") or 0,
            f"{base}&{urlencode({'file': path})}#file-{file_id(path)}",
        )
        for path, one in paths.items()
    ]


def _count_failed(rows: TurnRows) -> int:
    parts = (part for _, parts in rows.answers for part in parts)
    calls = (part.data for part in parts if part.type == "tool")
    refused = {key for key, made in rows.decisions.items() if any(one.rejected for one in made)}
    return count_failed(calls, refused)


def _worked_s(start: int, end: int | None, decisions: Decisions) -> float | None:
    """Without the time in which it waited for people."""
    if end is None:
        return None
    return max((end - start) / 1000 - waited_s(decisions), 0)


def _tokens(info: StoredAnswer) -> int:
    tokens = info.get("tokens", {})
    cache = tokens.get("cache", {})
    plain = tokens.get("input", 0) + tokens.get("output", 0) + tokens.get("reasoning", 0)
    return plain + cache.get("read", 0) + cache.get("write", 0)


def _cost(info: StoredAnswer) -> Decimal:
    return Decimal(str(info.get("cost", 0)))
