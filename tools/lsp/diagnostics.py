"""What servers find wrong in files: read from their words, bounded, and written for the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from tools.lsp.positions import to_column

ERROR = 1
# Of one file, kept and shown.
MAX_KEPT = 100
MAX_SHOWN = 20
MAX_OTHER_FILES = 5
_MAX_MESSAGE_CHARS = 400
_MAX_LINE = 10_000_000


@dataclass(frozen=True)
class Diagnostic:
    """One finding. Lines and columns as the server counts them, from 0."""

    severity: int
    line: int
    character: int
    end_line: int
    end_character: int
    message: str
    source: str = ""
    code: str = ""

    def to_wire(self) -> JsonObject:
        """Returns: the protocol's form, which clients show."""
        return {
            "range": {
                "start": {"line": self.line, "character": self.character},
                "end": {"line": self.end_line, "character": self.end_character},
            },
            "severity": self.severity,
            "message": self.message,
            **({"source": self.source} if self.source else {}),
            **({"code": self.code} if self.code else {}),
        }


def read_diagnostics(value: JsonValue) -> tuple[Diagnostic, ...]:
    """Read a server's list; what is none of the protocol is left out."""
    if not isinstance(value, list):
        return ()
    found = (_read(item) for item in value[: MAX_KEPT * 5] if isinstance(item, dict))
    # Errors first, as the rest may not be kept.
    whole = sorted(
        {one for one in found if one is not None},
        key=lambda one: (one.severity, one.line, one.character, one.message),
    )
    return tuple(whole[:MAX_KEPT])


def merge(*lists: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Put findings of several servers together, in their order in the file, each once."""
    every = {one for some in lists for one in some}
    return tuple(sorted(every, key=lambda one: (one.line, one.character, one.message)))


def report(path: Path, found: Sequence[Diagnostic], lines: Sequence[str]) -> str:
    """Write the errors of a file for the model. Returns: nothing when there are none."""
    errors = [one for one in found if one.severity == ERROR]
    if not errors:
        return ""
    shown = [
        f"ERROR [{one.line + 1}:{_column(one, lines)}] {one.message}" for one in errors[:MAX_SHOWN]
    ]
    if len(errors) > MAX_SHOWN:
        shown.append(f"... and {len(errors) - MAX_SHOWN} more")
    name = clean_text(str(path)).replace('"', "'")
    return "\n".join([f'<diagnostics file="{name}">', *shown, "</diagnostics>"])


def to_metadata(found: Mapping[Path, Sequence[Diagnostic]]) -> JsonObject:
    """Returns: findings by file, for clients."""
    return {
        clean_text(str(path)): [one.to_wire() for one in some[:MAX_SHOWN]]
        for path, some in found.items()
        if some
    }


def _column(one: Diagnostic, lines: Sequence[str]) -> int:
    line = lines[one.line] if one.line < len(lines) else ""
    return to_column(line, one.character) if line else one.character + 1


def _read(item: JsonObject) -> Diagnostic | None:
    span = item.get("range")
    start, end = (_place(span, name) for name in ("start", "end"))
    message = item.get("message")
    if start is None or not isinstance(message, str):
        return None
    severity = item.get("severity")
    code = item.get("code")
    return Diagnostic(
        # One without is an error: what it is, is left to us.
        severity=severity if severity in (1, 2, 3, 4) else ERROR,  # type: ignore[arg-type]
        line=start[0],
        character=start[1],
        end_line=(end or start)[0],
        end_character=(end or start)[1],
        # In one line, so that nothing in it looks like the end of the report.
        message=_one_line(message, _MAX_MESSAGE_CHARS),
        source=_one_line(str(item.get("source") or ""), 80),
        code=_one_line(str(code), 80) if isinstance(code, str | int) else "",
    )


def _place(span: JsonValue, name: str) -> tuple[int, int] | None:
    place = span.get(name) if isinstance(span, dict) else None
    if not isinstance(place, dict):
        return None
    line, character = place.get("line"), place.get("character")
    if not isinstance(line, int) or not isinstance(character, int):
        return None
    return min(max(line, 0), _MAX_LINE), min(max(character, 0), _MAX_LINE)


def _one_line(text: str, most: int) -> str:
    flat = " ".join(clean_text(text[: most * 2]).split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
