from __future__ import annotations

from django.utils.translation import override

from sessions.agents.loader import load_agents
from sessions.commands.catalog import load_commands
from sessions.config.model import parse_settings
from sessions.present.frame.builtin import DESCRIPTIONS, describe


def test_what_ships_with_the_server_is_described_in_the_readers_language() -> None:
    config = parse_settings({})
    shown = [one.description for one in load_agents(config).values() if not one.hidden]
    shown += [one.config.description or "" for one in load_commands(config).values()]
    assert set(shown) == DESCRIPTIONS
    with override("de"):
        assert (
            describe("Reads and plans without changing anything.")
            == "Liest und plant, ohne etwas zu ändern."
        )
        assert all(describe(text) != text for text in shown)
        assert describe("Ours.") == "Ours."
        assert describe("") == ""
