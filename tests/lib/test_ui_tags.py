from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.template import Context, Template
from django.utils import timezone, translation

from opencode_web.lib.templatetags import ui


def test_ago_is_the_largest_unit(subtests: pytest.Subtests) -> None:
    cases = [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=1), "1m"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=3), "3h"),
        (timedelta(hours=23, minutes=59), "23h"),
        (timedelta(days=6), "6d"),
    ]
    for age, text in cases:
        with subtests.test(age=age):
            assert ui.ago(timezone.now() - age) == text


def test_ago_is_a_date_after_a_week(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 21, tzinfo=UTC))

    assert ui.ago(datetime(2026, 11, 3, tzinfo=UTC)) == "Nov 3"
    assert ui.ago(datetime(2025, 12, 31, tzinfo=UTC)) == "Dec 31, 2025"


def test_ago_of_nothing_is_empty() -> None:
    assert ui.ago(None) == ""


def test_a_time_is_in_utc_until_a_script_shows_it_in_the_zone_of_the_reader() -> None:
    moment = datetime(2026, 11, 3, 17, 5, tzinfo=UTC)
    with translation.override("en"):
        assert ui.local(moment) == (
            '<time datetime="2026-11-03T17:05:00+00:00" data-local-time="medium">'
            "Nov 3, 2026, 17:05 UTC</time>"
        )
    assert ui.local(moment, "H:i").endswith('data-local-time="">17:05 UTC</time>')
    assert ui.local(None) == ""


def test_duration(subtests: pytest.Subtests) -> None:
    cases = [
        (None, ""),
        (-1, "0.1 s"),
        (0, "0.1 s"),
        (0.14, "0.1 s"),
        (9.94, "9.9 s"),
        (9.99, "10 s"),
        (27.4, "27 s"),
        (59.6, "1 m 00 s"),
        (125, "2 m 05 s"),
        (3600, "1 h 00 m"),
        (3840, "1 h 04 m"),
    ]
    for seconds, text in cases:
        with subtests.test(seconds=seconds):
            assert ui.duration(seconds) == text


def test_tokens(subtests: pytest.Subtests) -> None:
    cases = [
        (None, ""),
        (0, "0"),
        (950, "950"),
        (999, "999"),
        (1_000, "1k"),
        (1_240, "1.2k"),
        (9_949, "9.9k"),
        (9_960, "10k"),
        (48_300, "48k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_300_000, "1.3M"),
    ]
    for count, text in cases:
        with subtests.test(count=count):
            assert ui.tokens(count) == text


def test_money(subtests: pytest.Subtests) -> None:
    cases = [
        (None, ""),
        (Decimal(0), "$0"),
        (Decimal("0.00001"), "<$0.0001"),
        (Decimal("0.0031"), "$0.0031"),
        (Decimal("0.00312"), "$0.0031"),
        (Decimal("0.0100"), "$0.01"),
        (Decimal("0.0999"), "$0.0999"),
        (Decimal("0.1"), "$0.10"),
        (Decimal("0.385"), "$0.39"),
        (Decimal("18.4"), "$18.40"),
        (Decimal("12345.678"), "$12,345.68"),
        (Decimal("-0.5"), "-$0.50"),
    ]
    for amount, text in cases:
        with subtests.test(amount=amount):
            assert ui.money(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Decimal("109.3"), "109,30\xa0$"),
        (Decimal("12345.678"), "12.345,68\xa0$"),
        (Decimal("-0.0031"), "-0,0031\xa0$"),
        (Decimal(0), "0\xa0$"),
    ],
)
def test_money_as_germans_write_it(amount: Decimal, text: str) -> None:
    with translation.override("de"):
        assert ui.money(amount) == text


def test_ordinals() -> None:
    numbers = (1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 23, 101, 111, 112)
    assert " ".join(map(ui.ordinal, numbers)) == (
        "1st 2nd 3rd 4th 10th 11th 12th 13th 21st 22nd 23rd 101st 111th 112th"
    )
    with translation.override("de"):
        assert [ui.ordinal(number) for number in (1, 2, 3, 11)] == ["1.", "2.", "3.", "11."]


def test_whole_dollars_of_a_price_have_no_cents() -> None:
    assert [ui.money(Decimal(price), short=True) for price in ("3", "2.5")] == ["$3", "$2.50"]


def test_initials(subtests: pytest.Subtests) -> None:
    cases = [
        ("Ada Lovelace", "AL"),
        ("ada", "A"),
        ("Ada King of Lovelace", "AL"),
        ("ada.l@example.org", "AO"),
        ("  ", "?"),
        ("", "?"),
    ]
    for name, text in cases:
        with subtests.test(name=name):
            assert ui.initials(name) == text


def test_an_icon_is_decoration_unless_it_has_a_label() -> None:
    plain = ui.icon("check")
    named = ui.icon("check", label="Done")

    assert plain == (
        '<svg class="icon" aria-hidden="true"><use href="/static/icons.svg#check"></use></svg>'
    )
    assert 'role="img" aria-label="Done"' in named
    assert "aria-hidden" not in named


def test_an_icon_escapes_what_it_is_given() -> None:
    template = Template("{% load ui %}{% icon name label=label %}")

    html = template.render(Context({"name": '"><script>', "label": '"><b>'}))

    assert "<script>" not in html
    assert "<b>" not in html


def code(text: str, *, fence: str = "```\n", close: str = "```\n") -> str:
    shown = f'<code class="prompt-code">{text}</code>'
    return f"<span hidden>{fence}</span>{shown}<span hidden>{close}</span>"


def test_fenced_code_is_shown_as_code_and_keeps_what_was_typed(subtests: pytest.Subtests) -> None:
    cases = [
        ("a < b `c` **d**", "a &lt; b `c` **d**"),
        ("one\n```\n  <x>\n```\ntwo", f"one\n{code('  &lt;x&gt;' + chr(10))}two"),
        ("```py\na\n```", code("a\n", fence="```py\n", close="```")),
        ("````\n```\n````\n", code("```\n", fence="````\n", close="````\n")),
        ("```\nnever closed", code("never closed", close="")),
        ("```\n```\n", code("")),
        ("```<b>\na\n```\n", code("a\n", fence="```&lt;b&gt;\n")),
        ("say ```\nnot code", "say ```\nnot code"),
        ("{0} {x}", "{0} {x}"),
    ]
    for text, html in cases:
        with subtests.test(text=text):
            assert ui.fenced(text) == html


def test_what_a_text_names_is_a_link_and_code_is_not() -> None:
    mentions = {"a.py": "/s?panel=files&file=a.py", "a": "", "<x>": "/x"}
    html = ui.fenced("@a.py, b@a.py `@a` @a/b @a\n```\n@a.py\n```\n@<x>", mentions)
    link = '<a class="prompt-mention" href="{}"{}>@{}</a>'
    file = link.format("/s?panel=files&amp;file=a.py", ' data-panel-tab="files"', "a.py")
    name = '<span class="prompt-mention">@a</span>'
    rest = link.format("/x", "", "&lt;x&gt;")
    assert html == f"{file}, b@a.py `@a` @a/b {name}\n{code('@a.py' + chr(10))}{rest}"


def test_people_who_came_one_after_the_other_have_different_colours() -> None:
    assert len({ui.hue(person) for person in range(100, 107)}) == 7
