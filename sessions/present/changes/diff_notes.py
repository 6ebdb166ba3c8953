"""What a diff does not say with its lines: rights, links, names, and why there are none. Pure."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from sessions.present.changes.entries import Entry

_MODES = re.compile(r"^old mode (\d+)\nnew mode (\d+)$", re.MULTILINE)
_KIND = re.compile(
    r"^(?:new file mode|deleted file mode|new mode|index \S+) (\d{6})$", re.MULTILINE
)
_LINK, _REPOSITORY = "120000", "160000"


def note_of(entry: Entry, *, has_lines: bool) -> str:
    """Returns: sentences, none for a plain change of lines."""
    heads = "".join(f"{patch.partition(_HUNK)[0]}\n" for patch in entry.patches)
    said = [_rights(heads), _kind(heads)]
    if not has_lines:
        said.append(_without_lines(entry, is_told=any(said)))
    return " ".join(filter(None, said))


_HUNK = "\n@@ "


def _rights(heads: str) -> str:
    found = _MODES.search(heads)
    before, after = (int(mode, 8) & 0o111 for mode in found.groups()) if found else (0, 0)
    if bool(before) == bool(after):
        return ""
    if after:
        return _("The file can be executed now.")
    return _("The file cannot be executed any more.")


def _kind(heads: str) -> str:
    kinds = set(_KIND.findall(heads))
    if _LINK in kinds:
        return _("This is a link. Its line is where it leads.")
    if _REPOSITORY in kinds:
        return _("This is another repository. Its line is the commit it is at.")
    return ""


def _without_lines(entry: Entry, *, is_told: bool) -> str:
    if entry.large:
        return _("The file is too large to be shown here.")
    if entry.status == "added":
        return _("The file is empty.")
    if entry.status == "renamed":
        return _("Only the name has changed.")
    return "" if is_told else _("No lines changed.")
