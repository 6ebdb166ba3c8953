"""Where a session stands among those that wait to run."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.templatetags.ui import ordinal
from sessions.queue_position import PlaceInLine


def place_text(place: PlaceInLine) -> str:
    """Returns: in words, where a session stands among those that wait to run."""
    if not place.number:
        return _("Queued")
    if place.running:
        return _held(place)
    if place.number == 1:
        return _("Queued, next in line")
    return _("Queued, %(place)s in line") % {"place": ordinal(place.number)}


def _held(place: PlaceInLine) -> str:
    values = {"count": place.running, "place": ordinal(place.number)}
    if place.number == 1:
        text = ngettext(
            "Queued, next in your team: %(count)s turn running",
            "Queued, next in your team: %(count)s turns running",
            place.running,
        )
    else:
        text = ngettext(
            "Queued, %(place)s in your team: %(count)s turn running",
            "Queued, %(place)s in your team: %(count)s turns running",
            place.running,
        )
    return text % values
