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
    assert seen() == {"one": (3, (("RateLimited", 1),)), "two": (1, (("AuthError", 1),))}
    minute[0] += 30
    assert seen() == {"one": (1, ()), "two": (1, (("AuthError", 1),))}
    minute[0] += 60
    tally.note_call("two")
    assert seen() == {"two": (1, ())}
    assert len(tally._minutes) == 1


async def test_a_call_counts_for_its_provider() -> None:
    with OpenAIServer([Reply(text="Done.")]) as server:
        model = make_model(ProviderKind.COMPATIBLE, base_url=server.base_url)
        await collect(make_request(model))
    assert seen() == {model.ref.provider_id: (1, ())}


def test_the_median_until_an_answer_begins_is_within_a_fifth() -> None:
    for first_s in (0.1, 0.4, 0.5, 0.6, 30):
        tally.note_call("one", first_s=first_s)
    tally.note_call("one", error="NetworkError")
    found = tally.add_up([tally.last_hour(), {"one": {"ServerError": 2}}])["one"]
    assert (found.calls, found.failed) == (8, 3)
    assert found.errors == (("ServerError", 2), ("NetworkError", 1))
    assert found.first_ms is not None
    assert 400 <= found.first_ms <= 600


def seen() -> dict[str, tuple[int, tuple[tuple[str, int], ...]]]:
    found = tally.add_up([tally.last_hour()])
    return {name: (hour.calls, hour.errors) for name, hour in found.items()}
