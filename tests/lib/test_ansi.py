from __future__ import annotations

import pytest

from opencode_web.lib.ansi import MAX_LINE_CHARS, lines_to_html, to_plain_lines


def shown(text: str) -> str:
    return lines_to_html(to_plain_lines(text))


def test_it_shows_what_a_terminal_would_have_at_the_end(subtests: pytest.Subtests) -> None:
    cases = [
        ("plain <b>", "plain &lt;b&gt;"),
        ("\x1b[31mred\x1b[0m", '<span class="ansi31">red</span>'),
        ("10 %\r50 %\r100 %", "100 %"),
        ("done\r\nnext\r\n", "done\nnext\n"),
        ("abc\x08\x08d", "ad"),
        ("\x1b[2J\x1b[1;1Hx", "x"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00\x07b", "ab"),
    ]
    for text, html in cases:
        with subtests.test(text=text):
            assert shown(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31m<script>alert(1)</script>",
        "\x1b[38;2;1;2;3m\x1b[48;5;300mx<img src=x onerror=y>",
        "\x1b[31m\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07",
    ],
)
def test_escapes_and_markup_cannot_act(text: str) -> None:
    html = shown(text)
    for part in ("<script", "<img", "style=", "href", "\x1b"):
        assert part not in html


def test_a_huge_line_is_cut() -> None:
    assert len(shown("x" * 1_000_000)) == MAX_LINE_CHARS
