from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.urls import reverse

from opencode_web.lib.markdown import Document, Section, render_document

# In the order of the list of pages.
NAMES = (
    "index",
    "configuration",
    "models",
    "security",
    "operations",
    "proxies",
    "hardening",
    "audit",
    "api",
    "automation",
    "editors",
    "mcp",
    "extending",
    "architecture",
)
FOLDER = Path(settings.ASSETS_DIR) / "docs"
MAX_RESULTS = 40
_PAGE_LINK = re.compile(r"([a-z]+)\.md(#.*)?")


@dataclass(frozen=True)
class Result:
    """A heading that a search found. `page` is the title of its page, empty for a page itself."""

    title: str
    page: str
    url: str


@cache
def load_documents() -> dict[str, Document]:
    """Read once per process: the files are part of the program. Returns: by name, in order."""
    return {
        name: render_document((FOLDER / f"{name}.md").read_text("utf-8"), address_of=_address_of)
        for name in NAMES
    }


def page_url(name: str) -> str:
    """Returns: the path of a page in `NAMES`."""
    return reverse("docs:index") if name == "index" else reverse("docs:page", args=[name])


def search(query: str) -> list[Result]:
    """Returns: sections with all words of the query; first those that have them in the heading."""
    words = query.casefold().split()
    by_heading: list[Result] = []
    by_text: list[Result] = []
    for name, document in load_documents().items() if words else ():
        for section in document.sections:
            heading = section.title.casefold()
            if all(word in heading for word in words):
                by_heading.append(_result(name, document, section))
            elif all(word in heading or word in section.text.casefold() for word in words):
                by_text.append(_result(name, document, section))
    return [*by_heading, *by_text][:MAX_RESULTS]


def _result(name: str, document: Document, section: Section) -> Result:
    if section is document.sections[0]:
        return Result(section.title, "", page_url(name))
    return Result(section.title, document.title, f"{page_url(name)}#{section.anchor}")


def _address_of(target: str) -> str:
    link = _PAGE_LINK.fullmatch(target)
    if link is None or link[1] not in NAMES:
        return target
    return page_url(link[1]) + (link[2] or "")
