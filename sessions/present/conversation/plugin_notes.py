"""What plugins did to a call or a request, in a sentence for the people who watch."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

_SAID = {
    "changed": gettext_noop("Changed by plugins: %(plugins)s."),
    "failed": gettext_noop("Plugins that failed: %(plugins)s. What they changed is left out."),
    "said": gettext_noop("Plugins say: %(plugins)s"),
    "wrote": gettext_noop("Written by a plugin."),
    "late": gettext_noop("Plugins that took too long: %(plugins)s. What they changed is left out."),
}


def plugin_sentence(notes: object) -> str:
    """Returns: what notes in the log say; empty for none."""
    said: dict[str, list[str]] = {}
    for note in notes if isinstance(notes, list) else []:
        if isinstance(note, dict):
            why = f": {note['why']}" if note.get("why") else ""
            shown = f"{note.get('path')} ({note.get('hook')}{why})"
            if note.get("did") == "said":
                shown = str(note.get("why"))
            said.setdefault(str(note.get("did")), []).append(shown)
    return " ".join(
        _(sentence) % {"plugins": ", ".join(dict.fromkeys(said[did]))}
        for did, sentence in _SAID.items()
        if did in said
    )
