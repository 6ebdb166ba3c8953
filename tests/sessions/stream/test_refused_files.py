from __future__ import annotations

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.reasons import Cause
from sessions.events.files import FileRefused
from sessions.events.parts import FilePart, RetryPart
from sessions.events.reasons import TurnReason, told_error
from sessions.events.types import MessageUpdated, PartUpdated
from sessions.models import Session
from sessions.runner.log.history import newest_prompt
from teams.models import User
from tests.sessions.story import T0, Story, write
from tests.sessions.stream.conftest import Open, watching

pytestmark = pytest.mark.django_db(transaction=True)


def ask_with_picture(session: Session, author: User) -> tuple[Story, FilePart]:
    told = Story(session, author)
    told.ask("What is this?")
    place = {"sessionID": session.pk, "messageID": told.prompt_id}
    url = "data:image/png;base64,AA=="
    file = FilePart(id=new_id("prt"), **place, mime="image/png", url=url, filename="shot.png")
    prompt = newest_prompt(session)
    assert prompt is not None
    write(session, PartUpdated(part=file), MessageUpdated(info=prompt.info))
    told.answer()
    return told, file


def refuse(told: Story, file: FilePart) -> None:
    values = {"names": "shot.png", "model": "demo/inline", "why": "Could not process image"}
    retry = RetryPart(
        id=new_id("prt"),
        sessionID=file.sessionID,
        messageID=told.message_id,
        attempt=1,
        error=told_error(Cause(TurnReason.FILES_REFUSED, values), name="APIError"),
        time={"created": T0, "next": T0},
    )
    refused = FileRefused(
        message_id=file.messageID,
        part_id=file.id,
        file_id=file.id,
        model="demo/inline",
        reason="Could not process image",
    )
    write(told.session, refused, PartUpdated(part=retry))


async def test_a_refused_file_is_named_at_once_and_after_a_reload(
    session: Session, alice: User, load_page: Open
) -> None:
    told, file = await in_db(ask_with_picture, session, alice)
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        await in_db(refuse, told, file)
        await in_db(session.refresh_from_db)
        await watcher.reach(session.seq)
    fresh = await in_db(load_page)
    assert page.shape() == fresh.shape()
    log = fresh.root.find("#log")
    assert log is not None
    assert "Left out" in log.first("prompt-files").text
    said = log.first("retry").text
    assert "shot.png: left out because demo/inline refused it (Could not process image)." in said
    assert "Try" not in said
