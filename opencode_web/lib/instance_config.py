"""The settings of this whole server, in the shape of `opencode.json`: below those of every team.

They are read once by each process, so a change counts after a restart, which a broken file stops.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from opencode_web.lib.json import JsonObject
from opencode_web.lib.jsonc import parse_jsonc

logger = logging.getLogger(__name__)

_MAX_FILE_BYTES = 256 * 1024


def instance_config() -> JsonObject:
    """Returns: the settings in force, which must not be changed; none where nothing is set."""
    return _load(settings.INSTANCE_CONFIG, settings.DATA_DIR / "opencode.json")


def read_instance_config(named: str, usual: Path) -> JsonObject:
    """Read the file that the operator names; without a name the usual one, which may be missing.

    Raises: ValueError saying what is wrong with it.
    """
    path = Path(named).expanduser() if named else usual
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not named:
            return {}
        raise ValueError("there is no such file") from None
    except OSError as exc:
        raise ValueError(f"it cannot be read: {exc.strerror}") from exc
    if len(raw) > _MAX_FILE_BYTES:
        raise ValueError(f"it has more than {_MAX_FILE_BYTES} bytes")
    found = parse_jsonc(raw.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError("it must be an object")
    return found


@lru_cache(maxsize=4)
def _load(named: str, usual: Path) -> JsonObject:
    try:
        return read_instance_config(named, usual)
    except ValueError as exc:
        # A command that does not look at settings first; a server does not start with it.
        logger.error("the settings of this server cannot be read: %s", exc)
        return {}
