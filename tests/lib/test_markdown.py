from __future__ import annotations

import time

import pytest

from opencode_web.lib.markdown import (
    MAX_CHARS,
    closed_chars,
    render_document,
    render_markdown,
)


def test_it_renders_what_agents_write() -> None:
    html = render_markdown(
        "# Head\n\nSome `code` and **bold**.\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n"
        "```python\ndef f():\n    return 1\n```\n"
    )
    assert "<h3>Head</h3>" in html
    assert "<strong>bold</strong>" in html
    assert '<table tabindex="0">' in html
    assert "<td>1</td>" in html
    assert '<td align="right">2</td>' in html
    assert '<span class="k">def</span> <span class="nf">f</span>' in html


def test_hostile_markdown_is_inert(subtests: pytest.Subtests) -> None:
    cases = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "[a](vbscript:x)",
        "<javascript:alert(1)>",
        "![a](javascript:alert(1))",
        '[a](https://x "onmouseover=alert(1)")',
        "```<script>\n</code></pre><script>alert(1)</script>\n```",
        "[a]: javascript:alert(1)\n\n[a]",
        "<iframe src=//evil></iframe>",
        "<svg/onload=alert(1)>",
    ]
    for text in cases:
        with subtests.test(text=text):
            html = render_markdown(text).lower()
            for tag in ("<script", "<img", "<iframe", "<svg"):
                assert tag not in html
            assert 'href="javascript' not in html
            assert 'href="data' not in html
            assert 'href="vbscript' not in html
            assert " onmouseover=alert" not in html.replace('title="onmouseover=alert', "")


def test_links_do_not_tell_where_they_come_from_and_images_are_not_loaded() -> None:
    link = render_markdown("[docs](https://example.org/x)")
    assert 'rel="noopener nofollow"' in link
    assert 'href="https://example.org/x"' in link
    image = render_markdown("![chart](https://example.org/x.png)")
    assert "<img" not in image
    assert ">chart</a>" in image


def test_a_huge_text_is_shown_as_it_is() -> None:
    html = render_markdown("**a** " * (MAX_CHARS // 6 + 1))
    assert html.startswith("<pre")
    assert "<strong>" not in html


def test_nesting_does_not_take_long(subtests: pytest.Subtests) -> None:
    for text in ["[" * 20_000, "*a " * 20_000, "> " * 5_000 + "x", "`" * 30_000, "|" * 20_000]:
        with subtests.test(text=text):
            started = time.monotonic()
            render_markdown(text)
            assert time.monotonic() - started < 10


def test_a_growing_text_is_closed_up_to_its_last_block(subtests: pytest.Subtests) -> None:
    cases = [
        ("", ""),
        ("one paragraph\nof two lines", ""),
        ("one\n\ntwo", "one\n\n"),
        ("- a\n- b\n\n- c", ""),
        ("text\n\n```py\nx = 1\n\ny = 2", "text\n\n"),
        ("```\nx\n```\nafter", "```\nx\n```\n"),
        ("# head\ntext", "# head\n"),
        ("a\rb\n\nc", ""),
    ]
    for text, closed in cases:
        with subtests.test(text=text):
            assert text[: closed_chars(text)] == closed


def test_a_document_keeps_its_headings_and_gives_them_addresses() -> None:
    page = render_document(
        "# Till\n\nIntro.\n\n## Open & close\n\nAt *nine*,\nor later.\n\n"
        "### `OPEN_H`: hours\n\n```sh\nopen\n```\n\n## Open & close\n",
        address_of=str,
    )
    assert page.title == "Till"
    assert "<h1" not in page.html
    assert '<h2 id="open--close">Open &amp; close</h2>' in page.html
    assert [(one.level, one.anchor, one.text) for one in page.sections] == [
        (1, "till", "Intro."),
        (2, "open--close", "At nine, or later."),
        (3, "open_h-hours", "open\n"),
        (2, "open--close-1", ""),
    ]


def test_links_of_a_document_get_the_addresses_of_its_server() -> None:
    html = render_document(
        "# T\n\n[a](a.md) [b](https://example.org/)", address_of=lambda to: to.replace(".md", "/x")
    ).html
    assert '<a href="a/x" rel="noopener nofollow">a</a>' in html
    assert '<a href="https://example.org/" target="_blank" rel="noopener nofollow">b</a>' in html


def test_a_document_cannot_act_either() -> None:
    html = render_document(
        "# T\n\n<script>x</script>\n\n[a](javascript:alert(1))", address_of=str
    ).html
    assert "<script" not in html
    assert "href" not in html


def test_the_names_of_known_files_lead_to_their_pages_and_nothing_else_does() -> None:
    files = {"src/my_till.py": "/s?file=src", "my_till.py": "/s?file=src"}
    html = render_markdown(
        "See src/my_till.py. **my_till.py** my_till.py:7 `my_till.py:12` other.py my_till.pyx "
        "`rm my_till.py` [my_till.py](https://example.org/)\n\n    my_till.py\n",
        lambda name: files.get(name, ""),
    )
    link = '<a href="/s?file=src{}" data-panel-tab="files" rel="noopener nofollow">{}</a>'
    assert html == (
        f"<p>See {link.format('', 'src/my_till.py')}. "
        f"<strong>{link.format('', 'my_till.py')}</strong> {link.format('#L7', 'my_till.py')}:7 "
        f"{link.format('#L12', '<code>my_till.py:12</code>')} other.py my_till.pyx "
        "<code>rm my_till.py</code> "
        '<a href="https://example.org/" target="_blank" rel="noopener nofollow">my_till.py</a>'
        "</p>\n"
        '<pre tabindex="0"><code data-language="">my_till.py</code></pre>\n'
    )
