from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db import Error, InterfaceError, OperationalError, connection, transaction

from opencode_web.lib.db import in_db
from sessions.events.live import Delta
from sessions.models import Part, Project, Run, Session
from sessions.runner.log import pulse as module
from sessions.runner.log.lease import acquire_lease, release_lease
from sessions.runner.log.pulse import Pulse, Row, write_rows
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story


class Text:
    """A text that has grown to `text`; its session's lease is held."""

    def __init__(self, alice: User, session: Session, text: str) -> None:
        self.session, self.text = session, text
        self.sent = 0
        self.story = Story(session, alice)
        self.story.ask("tell me")
        self.story.answer()
        self.part_id = self.story.text("", done=False)
        self.data = Part.objects.get(pk=self.part_id).data
        lease = acquire_lease(session.pk)
        assert lease is not None
        self.lease = lease

    def take_delta(self) -> Delta | None:
        offset, self.sent = self.sent, len(self.text)
        if offset == self.sent:
            return None
        return Delta(self.session, "", self.part_id, offset, self.text[offset:])

    def to_row(self) -> Row:
        return Row(self.lease, self.part_id, {**self.data, "text": self.text})

    def written(self) -> str:
        return str(Part.objects.get(pk=self.part_id).data["text"])


@pytest.fixture
def texts(alice: User, project: Project) -> Iterator[list[Text]]:
    texts = [Text(alice, make_session(alice, project), f"text {number}") for number in range(3)]
    yield texts
    for text in texts:
        text.story.text(text.text, id=text.part_id)  # its end comes into the log


@pytest.fixture(autouse=True)
def quick(settings: Any) -> None:
    settings.FLUSH_S = 0.02


class Outbox:
    """What would have gone out, one list for each message."""

    def __init__(self) -> None:
        self.messages: list[list[str]] = []

    def take(self, deltas: Sequence[Delta]) -> None:
        if deltas:
            self.messages.append([delta.text for delta in deltas])


@pytest.fixture
def outbox(monkeypatch: pytest.MonkeyPatch) -> Outbox:
    outbox = Outbox()
    monkeypatch.setattr(module, "publish_deltas", outbox.take)
    return outbox


async def test_what_grows_between_two_beats_goes_out_together(
    texts: list[Text], outbox: Outbox
) -> None:
    pulse = Pulse()
    for text in texts:
        pulse.grew(text)
    # After a pause nobody waits for a beat.
    assert outbox.messages == [["text 0"]]
    texts[0].text += " goes on"
    pulse.grew(texts[0])
    while len(outbox.messages) < 2:
        await asyncio.sleep(0.01)
    assert sorted(outbox.messages[1]) == [" goes on", "text 1", "text 2"]
    for text in texts:
        await pulse.settled(text)


async def test_beats_get_longer_with_the_number_of_texts(
    texts: list[Text], outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DELTAS_PER_S", 1)
    pulse = Pulse()
    for text in texts:
        pulse.grew(text)
    # The first is followed by a pause of a second, in which nothing is lost.
    await asyncio.sleep(0.2)
    assert outbox.messages == [["text 0"]]
    assert [text.take_delta() is None for text in texts] == [True, False, False]
    for text in texts:
        await pulse.settled(text)


async def test_growing_texts_reach_their_rows(texts: list[Text], outbox: Outbox) -> None:
    pulse = Pulse()
    for text in texts:
        pulse.grew(text)
    for text in texts:
        while await in_db(text.written) != text.text:
            await asyncio.sleep(0.01)
    texts[1].text = "later"
    pulse.grew(texts[1])
    while await in_db(texts[1].written) != "later":
        await asyncio.sleep(0.01)


async def test_a_settled_text_is_not_written_any_more(texts: list[Text], outbox: Outbox) -> None:
    pulse = Pulse()
    for text in texts:
        pulse.grew(text)
    await pulse.settled(texts[0])
    while await in_db(texts[2].written) != "text 2":
        await asyncio.sleep(0.01)
    assert await in_db(texts[0].written) == ""
    assert outbox.messages[0] == ["text 0"]


async def test_settled_waits_for_a_write_that_is_under_way(
    texts: list[Text], outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(rows: Sequence[Row]) -> set[str]:
        begun.set()
        assert go.wait(25)
        return write_rows(rows)

    monkeypatch.setattr(module, "write_rows", slow)
    pulse = Pulse()
    pulse.grew(texts[0])
    assert await asyncio.to_thread(begun.wait, 25)
    texts[0].text = "final"
    settled = asyncio.create_task(pulse.settled(texts[0]))
    await asyncio.sleep(0.05)
    assert not settled.done()
    go.set()
    await settled
    assert await in_db(texts[0].written) == "text 0"


@pytest.mark.parametrize("fault", [OperationalError, InterfaceError])
async def test_a_write_that_failed_is_tried_again(
    texts: list[Text], outbox: Outbox, monkeypatch: pytest.MonkeyPatch, fault: type[Error]
) -> None:
    tries: list[int] = []

    def broken_once(rows: Sequence[Row]) -> set[str]:
        tries.append(len(rows))
        if len(tries) == 1:
            raise fault("the connection is gone")
        return write_rows(rows)

    monkeypatch.setattr(module, "write_rows", broken_once)
    pulse = Pulse()
    pulse.grew(texts[0])
    while await in_db(texts[0].written) != "text 0":
        await asyncio.sleep(0.01)
    assert tries == [1, 1]


def test_a_text_whose_lease_is_lost_is_left_alone_and_the_others_are_written(
    texts: list[Text],
) -> None:
    release_lease(texts[1].lease)
    assert write_rows([text.to_row() for text in texts]) == set()
    assert [text.written() for text in texts] == ["text 0", "", "text 2"]


# SQLite has one lock for all, so that there is nothing to show there.
if connection.vendor == "postgresql":

    def test_a_session_that_somebody_has_locked_holds_up_no_other(texts: list[Text]) -> None:
        rows = [text.to_row() for text in texts]
        held, go = threading.Event(), threading.Event()

        def hold() -> None:
            with transaction.atomic():
                Run.objects.select_for_update().get(session=texts[0].session)
                held.set()
                assert go.wait(25)
            connection.close()

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(25)
        left_out = write_rows(rows)
        go.set()
        holder.join()
        assert left_out == {texts[0].part_id}
        assert [text.written() for text in texts] == ["", "text 1", "text 2"]
        assert write_rows(rows, wait=True) == set()
        assert texts[0].written() == "text 0"
