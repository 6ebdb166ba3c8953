from __future__ import annotations

import pytest

from opencode_web.lib.ids import is_id, new_id, new_id_between
from sessions.actions.prompts import build_parts
from sessions.events.parts import TextPart
from sessions.models import Session
from sessions.part_ids import with_ascending_ids

LATER_MS = 1_900_000_000_000


def text(part_id: str) -> TextPart:
    return TextPart(id=part_id, sessionID="ses_1", messageID="msg_1", text="x")


def test_an_id_is_made_between_two_of_the_same_moment() -> None:
    low, high = "prt_00000000000100000000000zzz", "prt_00000000000200000000000000"
    made = new_id_between("prt", after=low, before=high)
    assert is_id(made, "prt")
    assert low < made < high


def test_an_id_is_made_behind_one_of_a_clock_that_is_ahead() -> None:
    ahead = new_id("prt", at_ms=LATER_MS)
    assert new_id_between("prt", after=ahead) > ahead


def test_without_room_no_id_is_made() -> None:
    only = "prt_000000000001" + "z" * 14
    with pytest.raises(ValueError, match="No id between"):
        new_id_between("prt", after=only, before=only)


@pytest.mark.parametrize("at_ms", [1_000_000_000_000, LATER_MS])
def test_ids_of_clients_stay_and_ours_fit_between(at_ms: int) -> None:
    first, second = (f"prt_{at_ms * 4096 % 2**48 + n:012x}{'k' * 14}" for n in (0, 1))
    ids = [new_id("prt"), first, new_id("prt"), second, new_id("prt")]
    parts = with_ascending_ids([text(one) for one in ids], given={first, second})
    fitted = [part.id for part in parts]
    assert fitted == sorted(fitted)
    assert (fitted[1], fitted[3]) == (first, second)


def test_ids_of_clients_that_contradict_their_order_are_replaced() -> None:
    ids = [new_id("prt"), new_id("prt")][::-1]
    fitted = [part.id for part in with_ascending_ids([text(one) for one in ids], given=ids)]
    assert fitted == sorted(fitted)
    assert not set(fitted) & set(ids)


def test_the_text_of_a_file_stands_before_it_in_ids_too(session: Session) -> None:
    given = [
        {"id": new_id("prt"), "type": "text", "text": "Look"},
        {
            "id": new_id("prt"),
            "type": "file",
            "mime": "text/plain",
            "filename": "a.txt",
            "url": "data:text/plain,hello",
        },
    ]
    parts = build_parts(given, session=session, message_id=new_id("msg"), agents={})
    assert [part.type for part in parts] == ["text", "text", "file"]
    assert [part.id for part in parts] == sorted(part.id for part in parts)
    assert [parts[0].id, parts[2].id] == [one["id"] for one in given]
