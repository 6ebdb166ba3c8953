from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from opencode_web.lib.colors import contrast, parse_hex
from opencode_web.lib.errors import Invalid
from teams.models import User
from teams.theme_file import MAX_BYTES, parse_theme
from teams.themes import HIGH, LEAST, style_sheet, theme_version, to_stored

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ClientFor = Callable[[User | None], Client]
THEME = "/me/appearance/theme"
_PLAIN = ("bg-app", "bg-1", "bg-2", "bg-3")
_SURFACES = (*_PLAIN, "ac-bg", "bad-bg", "warn-bg", "add-bg", "del-word")
# Text, and where it stands.
_TEXTS = {
    **dict.fromkeys(("tx-1", "tx-2", "tx-3", "code-string", "code-comment"), _SURFACES),
    **{state: (*_PLAIN, f"{state}-bg") for state in ("ac", "ok", "bad", "warn", "vio")},
}
# Muted text and the accent are too close to the background.
NORD = {
    "$schema": "https://opencode.ai/theme.json",
    "defs": {"night": "#2E3440", "snow": "#ECEFF4", "frost": "#88C0D0", "faint": "#4C566A"},
    "theme": {
        "primary": {"dark": "frost", "light": "#5E81AC"},
        "text": {"dark": "snow", "light": "night"},
        "textMuted": "faint",
        "background": {"dark": "night", "light": "snow"},
        "backgroundPanel": {"dark": "#3B4252", "light": "#E5E9F0"},
        "error": 196,
        "borderSubtle": "none",
        "border": "textMuted",
        "thinkingOpacity": 0.6,
        "ofTheFuture": "#123",
    },
}


def _theme(**colors: object) -> str:
    base = {"background": "#000", "text": "#fff", "primary": "#88f"}
    return json.dumps({"theme": {**base, **colors}})


def _tokens(css: str, index: int) -> dict[str, str]:
    """Returns: the first value of each token; 0 is that of light screens."""
    rows = re.findall(r"--([a-z0-9-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    return {name: values[index] for name, *values in rows[::-1]}


def test_colors_are_found_by_all_their_spellings() -> None:
    theme = parse_theme(json.dumps(NORD))
    assert theme.dark["primary"] == ((0x88, 0xC0, 0xD0), 1.0)
    assert theme.light["primary"] == ((0x5E, 0x81, 0xAC), 1.0)
    assert theme.dark["border"] == theme.dark["textMuted"] == ((0x4C, 0x56, 0x6A), 1.0)
    assert theme.dark["error"] == ((255, 0, 0), 1.0)
    assert "borderSubtle" not in theme.dark
    assert "thinkingOpacity" not in theme.dark


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "[" * 100_000, "null", "{}", '{"theme": []}', '{"theme": {}}'),
        '{"theme": {"background": "#000", "text": "#fff", "primary": "#88f"}, "defs": []}',
        *(_theme(error=value) for value in (256, -1, True, 1.5, "red", "#12", [], {}, None)),
        *(_theme(error=value) for value in ("error", "url(//evil.example)", "#fff;}", {"a": 1})),
        *(_theme(error={"dark": "#fff", "light": one}) for one in ("nobody", {}, [])),
        _theme(**{f"color{number}": 1 for number in range(600)}),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_theme(text)


@pytest.mark.parametrize(("high", "least"), [(False, LEAST), (True, HIGH)])
@pytest.mark.parametrize(
    "theme",
    [
        json.dumps(NORD),
        _theme(background="#777", backgroundPanel="#fff", text="#787878", error="#777777"),
        _theme(background="none", text="none", primary="#ffff00", diffAddedBg="#88888880"),
        _theme(background="#ffffff", text="#ffffff", primary="#ffffff"),
    ],
)
def test_text_is_readable_whatever_a_theme_wants(
    theme: str, high: bool, least: float, alice: User
) -> None:
    alice.preferences = {"high_contrast": high, "colors": to_stored("x", parse_theme(theme))}
    for index in range(2):
        tokens = {name: parse_hex(one) for name, one in _tokens(style_sheet(alice), index).items()}
        for text, surfaces in _TEXTS.items():
            worst = min(surfaces, key=lambda one: contrast(tokens[one], tokens[text]))
            assert contrast(tokens[worst], tokens[text]) >= least, (text, worst)
        assert contrast(tokens["on-ac"], tokens["ac-solid-hover"]) >= least
        assert contrast(tokens["line-2"], tokens["bg-1"]) >= 3


def test_what_is_readable_stays_as_it_is(alice: User) -> None:
    alice.preferences = {"colors": to_stored("Nord", parse_theme(json.dumps(NORD)))}
    dark = _tokens(style_sheet(alice), 1)
    assert (dark["bg-app"], dark["tx-1"]) == ("#2e3440", "#eceff4")
    assert dark["tx-3"] != "#4c566a"


def test_a_theme_file_colors_the_next_page(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    before = client.get("/me/appearance").content.decode()
    assert "theme.css" not in before
    file = SimpleUploadedFile("nord.json", json.dumps(NORD).encode())
    assert client.post(THEME, {"file": file})["Location"] == "/me/appearance"
    page = client.get("/me/appearance").content.decode()
    assert '<span class="chip">nord</span>' in page
    assert "shown with more contrast" in page
    address = re.search(r'href="(/me/theme\.css\?v=\w+)"', page)
    assert address is not None
    sheet = client.get(address[1])
    assert sheet["Content-Type"] == "text/css"
    assert sheet["Cache-Control"] == "private, max-age=31536000, immutable"
    assert "--bg-app: light-dark(#eceff4, #2e3440);" in sheet.content.decode()
    assert client.get("/me/theme.css?v=old")["Cache-Control"] == "private, no-cache"
    client.post(THEME, {"remove": "1"})
    assert "theme.css" not in client.get("/me/appearance").content.decode()


def test_a_theme_is_its_owners_alone(client_for: ClientFor, alice: User, bob: User) -> None:
    client_for(alice).post(THEME, {"text": json.dumps(NORD)})
    assert "#2e3440" not in client_for(bob).get("/me/theme.css").content.decode()
    assert client_for(None).get("/me/theme.css").status_code == 302


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "Choose a theme file"),
        ({"text": "{"}, "not valid JSON"),
        ({"text": " " * MAX_BYTES + _theme()}, ""),
        ({"text": _theme() + "x" * MAX_BYTES}, "at most 64 KB"),
        ({"text": _theme(**{"<script>": "red"})}, "“&lt;script&gt;” is not a valid color."),
        ({"text": _theme(**{"\ud800": "red"})}, "“?” is not a valid color."),
    ],
)
def test_a_wrong_theme_is_422_and_says_why(
    data: dict[str, Any], said: str, client_for: ClientFor, alice: User
) -> None:
    answer = client_for(alice).post(THEME, data)
    assert answer.status_code == (422 if said else 302)
    assert said in answer.content.decode()


def test_a_name_of_a_file_is_text(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    client.post(THEME, {"file": SimpleUploadedFile("<b>x.json", _theme().encode())})
    assert "&lt;b&gt;x" in client.get("/me/appearance").content.decode()


def test_a_file_that_is_no_text_is_422(client_for: ClientFor, alice: User) -> None:
    file = SimpleUploadedFile("a.json", b"\xff\xfe\x00")
    assert client_for(alice).post(THEME, {"file": file}).status_code == 422


def test_a_theme_in_the_database_cannot_write_css(alice: User) -> None:
    alice.preferences = {"colors": {"name": "x", "dark": {"bg-1": "red;}", "x}": "#fff"}}}
    css = style_sheet(alice)
    assert "red" not in css
    assert "x}" not in css


def test_a_theme_that_is_dark_everywhere_has_dark_controls(alice: User) -> None:
    alice.preferences = {"colors": to_stored("x", parse_theme(_theme()))}
    assert "color-scheme: dark" in style_sheet(alice)
    alice.preferences = {"colors": to_stored("x", parse_theme(json.dumps(NORD)))}
    assert "color-scheme" not in style_sheet(alice)


def test_contrast_density_and_size_are_marked_on_the_page(
    client_for: ClientFor, alice: User
) -> None:
    client = client_for(alice)
    plain = client.get("/me/appearance").content.decode()
    assert not any(name in plain for name in ("data-density", "data-text=", "data-contrast"))
    tastes = {"density": "compact", "text_size": "large", "high_contrast": "on"}
    assert client.post("/me/appearance", tastes).status_code == 302
    page = client.get("/me/appearance").content.decode()
    assert 'data-density="compact" data-text="large" data-contrast="more"' in page
    assert f"theme.css?v={theme_version(User.objects.get())}" in page
    assert client.post("/me/appearance", {"density": "x"}).status_code == 422
