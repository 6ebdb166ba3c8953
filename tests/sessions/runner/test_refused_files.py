from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from opencode_web.lib.db import in_db
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.models import Event, Message, Part, Project, Session
from teams.models import User
from tests.providers.factories import make_provider
from tests.providers.llm.front import on_a_port
from tests.sessions.factories import session_access
from tests.sessions.runner.drains import drain
from tests.sessions.runner.picky_vendors import WIRES, Picky
from tests.sessions.runner.test_mcp_tools import set_up
from tests.tools.mcp.servers import canned

pytestmark = pytest.mark.any_database

Ask = Callable[..., Any]
# The servers of two wires want a key of theirs.
KEY = "key-of-tests"


def png(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, "PNG")
    return out.getvalue()


BAD, GOOD = png("red"), png("green")
BAD_PDF, GOOD_PDF = b"%PDF-1.4 no more than this", b"%PDF-1.4 but this is fine"


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def attached(data: bytes, name: str) -> dict[str, Any]:
    mime = "application/pdf" if data.startswith(b"%PDF") else "image/png"
    url = f"data:{mime};base64,{coded(data)}"
    return {"type": "file", "mime": mime, "filename": name, "url": url}


class Talk:
    """A session whose model is served by a vendor of one wire."""

    def __init__(self, session: Session, user: User) -> None:
        self.session, self.user = session, user

    def set_up(self, vendor: Picky, url: str) -> None:
        project, wire = self.session.project, vendor.wire
        make_provider(
            project.team,
            ProviderKind.COMPATIBLE,
            provider_id=vendor.wire.npm.rpartition("/")[2],
            base_url=url,
            key=KEY,
        )
        kinds = ["pdf"] if wire.pdf else []
        model = {
            "name": wire.model,
            "attachment": True,
            "tool_call": True,
            "reasoning": False,
            "limit": {"context": 200_000, "output": 8_000},
            "modalities": {"input": [*kinds, "text", "image"], "output": ["text"]},
        }
        block = {"npm": wire.npm, "options": wire.options or {}, "models": {wire.model: model}}
        known = project.config.get("provider", {})
        project.config = {
            **project.config,
            "provider": {**known, vendor.wire.npm.rpartition("/")[2]: block},
        }
        project.save()
        self.session.refresh_from_db()

    def admit(self, vendor: Picky, parts: list[dict[str, Any]]) -> None:
        ref = ModelRef(vendor.wire.npm.rpartition("/")[2], vendor.wire.model)
        draft = PromptDraft(parts=parts, model=ref)
        admit_prompt(session_access(self.user, self.session), draft)

    async def ask(self, vendor: Picky, text: str, *files: dict[str, Any]) -> str:
        """Returns: what the model says in the end."""
        await in_db(self.admit, vendor, [{"type": "text", "text": text}, *files])
        await drain(self.session)
        assert self.session.outcome == "done", self.session.outcome_detail
        newest = Message.objects.filter(session=self.session, role="assistant").order_by("-seq")
        answer = await in_db(newest.first)
        texts = Part.objects.filter(message=answer, type="text").values_list("data__text")
        return "".join(row[0] for row in await in_db(list, texts))


@pytest.fixture
def talk(session: Session, alice: User) -> Talk:
    return Talk(session, alice)


@pytest.fixture
def serve(talk: Talk) -> Iterator[Callable[..., Any]]:
    running: list[Any] = []

    async def start(wire: str, bad: bytes, words: str) -> Picky:
        vendor = Picky(WIRES[wire], coded(bad), words)
        front = on_a_port(vendor)
        await in_db(talk.set_up, vendor, front.__enter__())
        running.append(front)
        return vendor

    yield start
    for front in running:
        front.__exit__(None, None, None)


def marks(session: Session) -> list[tuple[str, str]]:
    rows = Event.objects.filter(session=session, type="file.refused").order_by("seq")
    found = {row.pk: row for row in Part.objects.filter(session=session)}
    names = []
    for row in rows:
        part = found[row.data["part_id"]].data
        files = part.get("state", {}).get("attachments", [part])
        names += [file["filename"] for file in files if file["id"] == row.data["file_id"]]
    return list(zip(names, (row.data["model"] for row in rows), strict=True))


# (wire, a file it refuses, its words); Cohere's models take no documents.
REFUSALS = [
    *((name, BAD, "photo.png", wire.image) for name, wire in WIRES.items()),
    *((name, BAD_PDF, "paper.pdf", wire.pdf) for name, wire in WIRES.items() if wire.pdf),
]
DEEP_PAPERS = [
    pytest.param(*row, marks=pytest.mark.deep) if row[1] is BAD_PDF else row for row in REFUSALS
]

# One of them shows that it is the same wherever the file comes from.
IN_RESULTS = [
    row if row[:2] == ("messages", BAD_PDF) else pytest.param(*row, marks=pytest.mark.deep)
    for row in REFUSALS
]


@pytest.mark.parametrize(("wire", "bad", "name", "words"), DEEP_PAPERS)
async def test_a_session_goes_on_without_a_file_that_its_provider_refuses(
    wire: str, bad: bytes, name: str, words: str, talk: Talk, serve: Any
) -> None:
    vendor = await serve(wire, bad, words)
    vendor.says("I see nothing.")
    vendor.says("Hello.")
    assert await talk.ask(vendor, "Look", attached(bad, name)) == "I see nothing."
    assert await talk.ask(vendor, "Hi") == "Hello."
    assert len(vendor.refused) == 1
    sent = json.dumps(vendor.taken[-1])
    assert f'The file \\"{name}\\" was left out: the provider refused it: ' in sent
    [(marked, _)] = await in_db(marks, talk.session)
    assert marked == name
    retry = await in_db(Part.objects.get, session=talk.session, type="retry")
    told = retry.data["error"]["data"]["message"]
    assert told.startswith(f"{name}: left out because ")
    assert "messages." not in told


@pytest.mark.parametrize(("wire", "bad", "name", "words"), IN_RESULTS)
async def test_a_file_in_the_result_of_a_tool_is_left_out_as_well(
    wire: str, bad: bytes, name: str, words: str, talk: Talk, serve: Any, project: Project
) -> None:
    (Path(project.directory) / name).write_bytes(bad)
    vendor = await serve(wire, bad, words)
    vendor.reads(name)
    vendor.says("I could not look at it.")
    vendor.says("Hello.")
    assert await talk.ask(vendor, "Look") == "I could not look at it."
    assert await talk.ask(vendor, "Hi") == "Hello."
    assert len(vendor.refused) == 1
    assert len(vendor.taken) == 3
    assert "the provider refused it" in json.dumps(vendor.taken[-1])


def _in_result(bad: bytes, name: str) -> dict[str, Any]:
    if bad is BAD:
        return {"type": "image", "mimeType": "image/png", "data": coded(bad)}
    resource = {"uri": f"file:///{name}", "mimeType": "application/pdf", "blob": coded(bad)}
    return {"type": "resource", "resource": resource}


@pytest.mark.parametrize(("wire", "bad", "name", "words"), IN_RESULTS)
async def test_a_file_of_an_mcp_server_is_left_out_as_well(
    wire: str, bad: bytes, name: str, words: str, talk: Talk, serve: Any, project: Project
) -> None:
    tools = {"tools": [{"name": "scan", "inputSchema": {"properties": {"at": {"type": "string"}}}}]}
    answers = {"tools/list": tools, "tools/call": {"content": [_in_result(bad, name)]}}
    command = list(canned(Path(project.directory), answers))
    await in_db(lambda: set_up(project, shop={"type": "local", "command": command}))
    project.config = {**project.config, "permission": {"shop_scan": "allow"}}
    await in_db(project.save)
    await in_db(talk.session.refresh_from_db)
    vendor = await serve(wire, bad, words)
    vendor.calls("shop_scan", at="desk")
    vendor.says("I could not look at it.")
    assert await talk.ask(vendor, "Scan") == "I could not look at it."
    assert len(vendor.refused) == 1
    assert "the provider refused it" in json.dumps(vendor.taken[-1])


@pytest.mark.deep
@pytest.mark.parametrize("first", WIRES)
async def test_every_other_wire_reads_the_files_that_one_was_given(
    first: str, talk: Talk, serve: Any, project: Project
) -> None:
    for name, data in (("shot.png", BAD), ("more.pdf", GOOD_PDF)):
        (Path(project.directory) / name).write_bytes(data)
    vendor = await serve(first, b"nothing like it", "")
    vendor.reads("shot.png")
    vendor.reads("more.pdf")
    vendor.says("All seen.")
    await talk.ask(vendor, "Look", attached(GOOD, "good.png"), attached(BAD_PDF, "paper.pdf"))
    for name in WIRES:
        other = vendor if name == first else await serve(name, b"nothing like it", "")
        other.says(f"{name} sees them.")
        assert await talk.ask(other, "And you?") == f"{name} sees them."
        sent = json.dumps(other.taken[-1])
        for picture in (GOOD, BAD):
            assert coded(picture) in sent
        for paper in (GOOD_PDF, BAD_PDF):
            assert (coded(paper) in sent) is bool(WIRES[name].pdf)


async def test_only_the_file_that_the_provider_names_is_left_out(talk: Talk, serve: Any) -> None:
    vendor = await serve("messages", BAD, WIRES["messages"].image)
    vendor.says("One.")
    await talk.ask(vendor, "Look", attached(GOOD, "good.png"), attached(BAD, "bad.png"))
    assert [name for name, _ in await in_db(marks, talk.session)] == ["bad.png"]
    assert coded(GOOD) in json.dumps(vendor.taken[-1])


async def test_a_file_that_was_read_before_stays_when_none_is_named(talk: Talk, serve: Any) -> None:
    vendor = await serve("gemini", BAD, WIRES["gemini"].image)
    vendor.says("One.")
    vendor.says("Two.")
    await talk.ask(vendor, "Look", attached(GOOD, "good.png"))
    await talk.ask(vendor, "And here", attached(BAD, "bad.png"))
    assert [name for name, _ in await in_db(marks, talk.session)] == ["bad.png"]
    assert coded(GOOD) in json.dumps(vendor.taken[-1])


async def test_another_model_is_given_what_one_has_refused(talk: Talk, serve: Any) -> None:
    first = await serve("messages", BAD, WIRES["messages"].image)
    second = await serve("gemini", b"nothing like it", "")
    first.says("One.")
    second.says("Two.")
    await talk.ask(first, "Look", attached(BAD, "bad.png"))
    await talk.ask(second, "Do you see it?")
    assert coded(BAD) in json.dumps(second.taken[-1])


async def test_a_picture_that_no_decoder_reads_is_never_sent(talk: Talk, serve: Any) -> None:
    vendor = await serve("responses", BAD, "")
    vendor.says("One.")
    await talk.ask(vendor, "Look", attached(GOOD[:45], "cut.png"))
    assert [name for name, _ in await in_db(marks, talk.session)] == ["cut.png"]
    assert "it is not a picture that can be read" in json.dumps(vendor.taken)
    assert len(vendor.taken) == 1
    assert not vendor.refused
