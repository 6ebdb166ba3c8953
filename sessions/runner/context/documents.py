"""Instruction files as values of a source, and their renderers.

The text is somebody else's. It stands between tags that name its origin, and cannot close them or
pass for a message of the server.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import unified_diff

from pydantic import TypeAdapter

from opencode_web.lib.marks import defuse
from sessions.events.messages import Frozen
from sessions.runner.context.source import ContextInputs, Source

MAX_TOTAL_CHARS = 128 * 1024
# Comparing takes time that grows faster than the text, and the text is anybody's.
MAX_DIFF_LINES = 500


class Document(Frozen):
    """`origin` is a path or an address."""

    origin: str
    text: str


Documents = list[Document]
DOCUMENTS: TypeAdapter[Documents] = TypeAdapter(Documents)


def bound(documents: Documents) -> Documents | None:
    """Returns: those that have text, at most `MAX_TOTAL_CHARS` of it, or None for none.

    A document that does not fit any more is named, so that the agent can read it by itself.
    """
    left = MAX_TOTAL_CHARS
    bounded = []
    for document in documents:
        if not document.text.strip():
            continue
        if len(document.text) > left:
            note = "(Not shown: there are too many instructions. Read it when you need it.)"
            document = document.model_copy(update={"text": note})
        else:
            left -= len(document.text)
        bounded.append(document)
    return bounded or None


def render(document: Document) -> str:
    """Returns: the text between tags that say where it is from."""
    origin = defuse(document.origin).replace('"', "%22").replace("\n", " ")
    return f'<instructions from="{origin}">\n{defuse(document.text.strip())}\n</instructions>'


def document_source(
    key: str, intro: str, observe: Callable[[ContextInputs, Documents | None], Documents | None]
) -> Source[Documents]:
    """A source whose value is documents. `intro` says whose they are and what they count."""

    def masked(inputs: ContextInputs, known: Documents | None) -> Documents | None:
        found = observe(inputs, known)
        if not found or not (redactor := inputs.redactor()):
            return found
        return [one.model_copy(update={"text": redactor.text(one.text)}) for one in found]

    def baseline(documents: Documents) -> str:
        return "\n\n".join([intro, *map(render, documents)])

    def update(old: Documents, new: Documents) -> str:
        known = {document.origin: document.text for document in old}
        there = {document.origin for document in new}
        changed = [document for document in new if known.get(document.origin) != document.text]
        gone = [document.origin for document in old if document.origin not in there]
        texts = [_render_change(known.get(document.origin), document) for document in changed]
        intros = [intro] if texts else []
        return "\n\n".join([*intros, *texts, *map(_gone, gone)])

    def removal(old: Documents) -> str:
        return "\n".join(_gone(document.origin) for document in old)

    return Source(key, DOCUMENTS, masked, baseline, update, removal)


def _render_change(old: str | None, new: Document) -> str:
    """The whole text, or the lines that changed when that is much shorter.

    An agent that writes its own instruction file step by step would fill its context otherwise.
    """
    if old is None or max(old.count("\n"), new.text.count("\n")) > MAX_DIFF_LINES:
        return render(new)
    lines = unified_diff(old.splitlines(), new.text.splitlines(), "before", "now", lineterm="", n=2)
    diff = "\n".join(lines)
    if len(diff) * 2 > len(new.text):
        return render(new)
    return render(new.model_copy(update={"text": f"(Only what changed in it.)\n{diff}"}))


def _gone(origin: str) -> str:
    return f"The instructions from {origin} are gone and no longer apply."
