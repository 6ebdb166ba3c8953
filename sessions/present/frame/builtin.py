"""The built-in agents and commands in the reader's language: their files are for models, too."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

DESCRIPTIONS = frozenset(
    {
        gettext_noop("Reads, edits and runs code in the project."),
        gettext_noop("Reads and plans without changing anything."),
        gettext_noop(
            "Finds things in the code without changing anything. Say how thorough it should "
            "be: quick, medium or very thorough."
        ),
        gettext_noop(
            "Works on a task with several steps on its own, alongside other agents. For "
            "research and changes that need no conversation."
        ),
        gettext_noop("Write or improve the AGENTS.md of this repository."),
        gettext_noop("Review changes: uncommitted work, a commit, a branch or what you name."),
    }
)


def describe(text: str) -> str:
    """Returns: a description that ships with the server in words of the reader; others as they
    are.
    """
    return _(text) if text in DESCRIPTIONS else text
