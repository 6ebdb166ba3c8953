from __future__ import annotations

import itertools
import random
from datetime import date
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from sessions.repository.reading import Unavailable
from sessions.runner.context.registry import (
    SOURCES,
    Incompatible,
    observe,
    render_baseline,
    render_changes,
)
from sessions.runner.context.source import ContextInputs, Source
from tests.sessions.runner.context.inputs import BUILD, make_inputs


def make_source(key: str, value: str | None, *, removal: str = "gone") -> Source[str]:
    def see(_inputs: ContextInputs, _known: str | None) -> str | None:
        return value

    return Source(
        key,
        TypeAdapter(str),
        see,
        lambda text: f"{key} is {text}",
        lambda old, new: f"{key} was {old}, is {new}",
        lambda old: f"{key} {removal}, was {old}" if removal else "",
    )


def away(key: str) -> Source[str]:
    def fail(_inputs: ContextInputs, _known: str | None) -> str | None:
        raise Unavailable(key)

    there = make_source(key, None)
    return Source(key, there.type, fail, there.baseline, there.update, there.removal)


def test_nfr_02_the_order_of_observation_does_not_change_a_byte(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    inputs = make_inputs(tmp_path, prompt_system="Be brief.")
    later = make_inputs(tmp_path, today=date(2026, 1, 3))
    sources = [*SOURCES, make_source("custom/b", "2"), make_source("custom/a", "1")]
    old = observe(inputs, {}, sources=sources)
    baseline = render_baseline(old, sources=sources)
    changes = render_changes(old, observe(later, old, sources=sources), sources=sources)
    for seed in range(30):
        random.Random(seed).shuffle(sources)
        seen = observe(inputs, {}, sources=sources)
        assert render_baseline(seen, sources=sources) == baseline
        changed = observe(later, seen, sources=sources)
        assert render_changes(seen, changed, sources=sources) == changes
    assert "The day has changed" in changes


def test_nfr_02_the_order_of_the_keys_in_a_stored_snapshot_does_not_matter() -> None:
    sources = [make_source(f"custom/{name}", name) for name in "abc"]
    for order in itertools.permutations("abc"):
        values = {f"custom/{name}": name for name in order}
        assert render_baseline(values, sources=sources) == [
            "custom/a is a\n\ncustom/b is b\n\ncustom/c is c"
        ]


def test_the_agents_instructions_are_a_block_of_their_own(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path)
    first, rest = render_baseline(observe(inputs, {}))
    assert first == BUILD.prompt
    assert "\n\nToday is Friday, 2026-01-02 (UTC).\n\nWhere you are:" in rest


def test_fr_08_all_changes_are_one_message_in_the_order_of_the_keys() -> None:
    sources = [make_source(f"custom/{name}", name) for name in "abcd"]
    old = {"custom/a": "1", "custom/b": "b", "custom/c": "3"}
    new = {"custom/b": "b", "custom/c": "4", "custom/d": "5"}
    text = render_changes(old, new, sources=sources)
    assert text.split("\n\n")[1:] == [
        "custom/a gone, was 1",
        "custom/c was 3, is 4",
        "custom/d is 5",
    ]


def test_without_a_change_there_is_nothing_to_tell() -> None:
    values = {"custom/a": "1"}
    assert render_changes(values, dict(values), sources=[make_source("custom/a", "1")]) == ""


def test_a_change_that_says_nothing_makes_no_message() -> None:
    silent = make_source("custom/a", None, removal="")
    assert render_changes({"custom/a": "1"}, {}, sources=[silent]) == ""


def test_a_source_that_is_away_keeps_the_value_that_the_model_knows(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path)
    known = {"custom/a": "1"}
    assert observe(inputs, known, sources=[away("custom/a")]) == known
    assert observe(inputs, {}, sources=[away("custom/a")]) == {}


def test_a_stored_value_of_another_shape_is_incompatible(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path)
    with pytest.raises(Incompatible):
        observe(inputs, {"custom/a": {"no": "text"}}, sources=[make_source("custom/a", "1")])


def test_a_source_that_nobody_renders_any_more_is_incompatible() -> None:
    with pytest.raises(Incompatible):
        render_changes({"custom/old": "1"}, {}, sources=[])


def test_another_working_directory_is_a_move(tmp_path: Path) -> None:
    known = observe(make_inputs(tmp_path), {})
    with pytest.raises(Incompatible) as caught:
        observe(make_inputs(tmp_path / "elsewhere"), known)
    assert caught.value.moved
