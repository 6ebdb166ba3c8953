"""What the questions to a language server are called."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

_VERBS = {
    "goToDefinition": gettext_noop("Looked up definition"),
    "findReferences": gettext_noop("Looked up uses"),
    "goToImplementation": gettext_noop("Looked up implementations"),
    "hover": gettext_noop("Looked up type"),
    "documentSymbol": gettext_noop("Listed symbols"),
    "workspaceSymbol": gettext_noop("Searched symbols"),
    "prepareCallHierarchy": gettext_noop("Looked up function"),
    "incomingCalls": gettext_noop("Looked up callers"),
    "outgoingCalls": gettext_noop("Looked up calls"),
}


def lookup_verb(operation: str) -> str:
    """Returns: what the operation has done, such as `Looked up uses`."""
    return _(_VERBS.get(operation, gettext_noop("Asked about code")))
