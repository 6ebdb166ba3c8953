from __future__ import annotations

from collections.abc import Iterator

import pytest

from providers import tally
from providers.kinds import ProviderKind
from tests.providers.requests import collect, make_model, make_request
from tests.providers.servers import OpenAIServer, Reply


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    tally._minutes.clear()
    yield
    tally._minutes.clear()


def test_calls_are_counted_by_how_they_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    minute = [1000]
    monkeypatch.setattr(tally, "_now", lambda: minute[0])
    tally.note_call("one")
    tally.note_call("one", error="RateLimited")
    minute[0] += 30
    tally.note_call("one")
    tally.note_call("two", error="AuthError")
    assert tally.last_hour() == {"one": {"": 2, "RateLimited": 1}, "two": {"AuthError": 1}}
    minute[0] += 30
    assert tally.last_hour() == {"one": {"": 1}, "two": {"AuthError": 1}}
    minute[0] += 60
    tally.note_call("two")
    assert tally.last_hour() == {"two": {"": 1}}
    assert len(tally._minutes) == 1


async def test_a_call_counts_for_its_provider() -> None:
    with OpenAIServer([Reply(text="Done.")]) as server:
        model = make_model(ProviderKind.COMPATIBLE, base_url=server.base_url)
        await collect(make_request(model))
    assert tally.last_hour() == {model.ref.provider_id: {"": 1}}
