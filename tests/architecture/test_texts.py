"""What people read in a template goes through the catalogues."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.architecture.test_templates import BLOCK, COMMENT, TEMPLATES, VALUE

TRANSLATED = re.compile(
    r"\{% blocktranslate .*?\{% endblocktranslate %\}|\{% blocktranslate %\}.*?"
    r"\{% endblocktranslate %\}|\{% translate (?:\"[^\"]*\"|'[^']*')[^%]*%\}",
    re.DOTALL,
)
READ_ALOUD = {"alt", "aria-description", "aria-label", "data-label", "placeholder", "title"}
LETTERS = re.compile(r"[A-Za-z]{2,}")
# Names, and what is the same in every language.
SAME = {"OpenCode", "Web", "UTC", "opencode", "json", "git", "kbd", "Esc", "Ctrl", "Enter", "Mod"}
SAME |= {"USD", "HTTP", "nbsp", "middot", "hellip", "Alt", "false", "Shift", "Tab", "Space"}
# The letters of git's states, which are one text without their branches.
SAME |= {"ADRM"}
# Attributes of a parent's element, which are no text.
ATTRIBUTES = re.compile(r"\{% block \w+_(?:attributes|class) %\}.*?\{% endblock %\}")
ADDRESS = re.compile(r"https://\S+")
# Their text is code or a key, not prose.
CODE = {"code", "kbd", "pre", "script", "style"}


class Texts(HTMLParser):
    """Collects what is neither translated nor code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_mono = "mono" in (dict(attrs).get("class") or "").split()
        if self.inside or tag in CODE or is_mono:
            self.inside.append(tag)
        for name, value in attrs:
            if name in READ_ALOUD:
                self._look(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self._look(data)

    def _look(self, text: str) -> None:
        if set(LETTERS.findall(ADDRESS.sub("", text))) - SAME:
            self.found.append(" ".join(text.split()))


def untranslated(text: str) -> list[str]:
    # What a tag says in code is no text: `{% if a %}`. Strings handed on are checked below.
    plain = TRANSLATED.sub("", ATTRIBUTES.sub("", COMMENT.sub("", text)))
    finder = Texts()
    finder.feed(VALUE.sub("", BLOCK.sub("", plain)))
    finder.close()
    return finder.found


def test_every_text_of_a_template_can_be_translated(subtests: pytest.Subtests) -> None:
    for path in TEMPLATES:
        with subtests.test(path=path):
            text = path.read_text()
            handed = re.findall(
                r"\{% include [^%]*?\b(?:text|action|label|title)=\"([^\"]+)\"", text
            )

            assert untranslated(text) == []
            assert handed == []


def test_it_finds_what_cannot() -> None:
    assert untranslated('<p title="Say">{% translate "a b" %}, and more</p>') == [
        "Say",
        ", and more",
    ]
    assert untranslated("{% blocktranslate with a=b %}Of {{ a }}{% endblocktranslate %}: ") == []
    assert untranslated('<span class="mono">HTTP_PROXY</span> · OpenCode Web') == []
