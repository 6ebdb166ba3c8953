from __future__ import annotations

from opencode_web.lib.json import JsonObject
from sessions.commands.catalog import Command
from sessions.config.model import CommandConfig
from sessions.present.pages.mentions import command_mentions, symbol_mentions


def symbol(uri: str, name: str = "Till.total", line: int = 11) -> JsonObject:
    start: JsonObject = {"line": line, "character": 0}
    place: JsonObject = {"uri": uri, "range": {"start": start, "end": start}}
    return {"name": name, "kind": 6, "location": place}


def test_a_symbol_names_its_file_and_line() -> None:
    (found,) = symbol_mentions([symbol("file:///srv/shop/src/till%2B.py")], "/srv/shop")
    assert found.insert == "@src/till+.py (Till.total, line 12)"
    assert (found.label, found.detail) == ("Till.total", "src/till+.py:12")


def test_what_cannot_be_named_is_left_out() -> None:
    elsewhere = symbol("file:///srv/bank/till.py")
    with_blank = symbol("file:///srv/shop/my%20till.py")
    assert symbol_mentions([elsewhere, with_blank, {"name": "x"}], "/srv/shop") == []


def test_a_command_says_what_follows_it() -> None:
    config = CommandConfig(template="Rename $1 to $2. $ARGUMENTS", description="Renames")
    (found,) = command_mentions([Command("rename", config)], [], "ren")
    assert found.insert == "/rename"
    assert found.detail == "$1 $2 · Renames"
