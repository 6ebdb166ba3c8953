from __future__ import annotations

import pytest

from tools.errors import ToolError
from tools.web.conversion import convert_html
from tools.web.html_worker import CUT, MAX_TAGS, to_markdown, to_text

BASE = "https://example.com/docs/page"


def test_markdown(subtests: pytest.Subtests) -> None:
    cases = [
        ("<h2>A <b>b</b></h2>", "## A **b**"),
        ("<p>one<br>two", "one  \ntwo"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<a href='../x?y=1'>l</a>", "[l](https://example.com/x?y=1)"),
        ("<a href='javascript:alert(1)'>l</a>", "l"),
        ("<a href='//evil.example/'>l</a>", "[l](https://evil.example/)"),
        ("<a href='http://[x'>l</a>", "l"),
        ("<img src=/p.png alt=pic>", "![pic](https://example.com/p.png)"),
        ("<img src='data:image/png;base64,AAAA' alt='<pic>'>", "<pic>"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        (
            "<pre><code class='hljs language-py'>def f():\n    pass</code></pre>",
            "```py\ndef f():\n    pass\n```",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1<td>2</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "a<script>x</script><style>y</style><noscript>z</noscript><svg><text>s</text></svg>b",
            "ab",
        ),
        ("<script/>hidden", ""),
        ("<svg/>seen", "seen"),
        ("<script>unended <p>x", ""),
        ("<template><p>x</template>y", "y"),
        ("x<!-- <p>no</p> -->y", "xy"),
        ("<b>a <i>b</b> c</i>", "**a *b*** c"),
        ("</p></div>x", "x"),
        ("&lt;script&gt; &copy; &#0; &#x110000;", "<script> © \ufffd \ufffd"),
        ("", ""),
    ]
    for page, markdown in cases:
        with subtests.test(page=page):
            assert to_markdown(page, BASE) == markdown


def test_text(subtests: pytest.Subtests) -> None:
    cases = [
        ("<p>one\n two</p><p>three</p>", "one two\n\nthree"),
        ("<p>a <b>b</b>c</p>", "a bc"),
        ("<pre>a\n   b</pre>", "a\n   b"),
        ("<tr><td>a</td><td>b</td></tr>", "a\tb"),
        ("<style>x</style><title>t</title>", "t"),
    ]
    for page, text in cases:
        with subtests.test(page=page):
            assert to_text(page, BASE) == text


@pytest.mark.deep
def test_deep_pages_keep_their_words(subtests: pytest.Subtests) -> None:
    for tag in ["div", "b", "ul><li", "blockquote", "table><tr><td", "custom-tag"]:
        for convert in [to_markdown, to_text]:
            with subtests.test(convert=convert, tag=tag):
                assert "word" in convert(f"<{tag}>" * 3_000 + "word", BASE)  # type: ignore[operator]


def test_a_page_of_tags_is_cut() -> None:
    page = to_text("<p>word" + "<i></i>" * (MAX_TAGS + 5), BASE)
    assert page == f"word\n\n{CUT}"


async def test_it_is_done_in_a_process_of_its_own() -> None:
    page = "<p>Grüße " + "x" * 300_000
    assert await convert_html(page, "markdown", base=BASE) == page.removeprefix("<p>")


@pytest.mark.deep
@pytest.mark.parametrize("piece", ["<!--", "<a ", "<![CDATA["])
async def test_a_page_that_is_made_to_take_hours_does_not(piece: str) -> None:
    with pytest.raises(ToolError, match="too complex"):
        await convert_html(piece * 800_000, "markdown", base=BASE, cpu_s=1)
