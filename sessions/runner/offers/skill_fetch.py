"""Read skills from the web: `index.json` below an address, then a SKILL.md for each.

Only stored settings of a team or project name such addresses; one in a file of a repository could
be anybody's. What comes is a text like any skill: it is bounded, cleaned, and runs nothing.
Source: behaviour facts 6.3 (`skills.urls`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from django.conf import settings
from pydantic import BaseModel, Field, ValidationError

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, fetch_text
from opencode_web.lib.text import clean_text
from sessions.actions.skill_indexes import keep_index
from sessions.repository.front_matter import BrokenHead, split_front_matter
from sessions.repository.reading import MAX_FILE_BYTES
from sessions.repository.skill_indexes import base_of
from sessions.repository.skills import MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS

logger = logging.getLogger(__name__)

TIMEOUT_S = 5.0
WHOLE_S = 20.0
MAX_SKILLS = 32
_AT_ONCE = 4
_MAX_FILES = 20
_MAX_INDEX_BYTES = 256 * 1024
_MAIN = "SKILL.md"
# A name is a folder below the address, and must not lead elsewhere.
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME_CHARS - 1}}}")


class _Entry(BaseModel):
    name: str
    files: list[str] = []


class _Index(BaseModel):
    skills: list[_Entry] = Field(max_length=1_000)


@dataclass
class _Read:
    """`skills` is None while the index itself could not be read."""

    skills: list[JsonObject] | None = None
    problems: list[str] = field(default_factory=list)


async def fetch_skills(team_id: str, urls: Sequence[str]) -> None:
    """Read every address, all at once, and note what came. One that cannot be had is no error."""
    await asyncio.gather(*(_keep(team_id, url) for url in urls))


async def _keep(team_id: str, url: str) -> None:
    found = _Read()
    try:
        async with asyncio.timeout(WHOLE_S):
            await _read(url, found)
    except TimeoutError:
        found.problems.append(f"It took longer than {WHOLE_S:g} s.")
    except FetchError as exc:
        found.problems.append(f"It cannot be read: {exc}.")
    if found.problems:
        # Without the address: there may be a secret in it.
        logger.warning("skills of the web could not all be had: team=%s", team_id)
    await in_db(keep_index, team_id, url, skills=found.skills, problems=found.problems[:20])


async def _read(url: str, found: _Read) -> None:
    """Raises: FetchError, where the index cannot be read."""
    base = base_of(url)
    text, was_cut = await _get(f"{base}/index.json", _MAX_INDEX_BYTES)
    if was_cut:
        raise FetchError(f"its index has more than {_MAX_INDEX_BYTES} bytes")
    try:
        entries = _Index.model_validate(json.loads(text)).skills
    except (ValidationError, ValueError, RecursionError) as exc:
        raise FetchError('its index is not of the form {"skills": [{"name", "files"}]}') from exc
    wanted = []
    for entry in entries[:MAX_SKILLS]:
        if not _NAME.fullmatch(entry.name) or _MAIN not in entry.files:
            found.problems.append(f"{entry.name[:64]!r} has no name of a skill, or no {_MAIN}.")
        else:
            wanted.append(entry)
    if len(entries) > MAX_SKILLS:
        found.problems.append(f"It has more than {MAX_SKILLS} skills.")
    found.skills = []
    slots = asyncio.Semaphore(_AT_ONCE)
    await asyncio.gather(*(_take(base, entry, found, slots) for entry in wanted))
    found.skills.sort(key=lambda skill: str(skill["name"]))


async def _take(base: str, entry: _Entry, found: _Read, slots: asyncio.Semaphore) -> None:
    address = f"{base}/{quote(entry.name)}/{_MAIN}"
    try:
        async with slots:
            text, was_cut = await _get(address, MAX_FILE_BYTES)
        head, body = split_front_matter(clean_text(text))
    except FetchError as exc:
        found.problems.append(f"{entry.name} cannot be read: {exc}.")
        return
    except BrokenHead as exc:
        found.problems.append(f"The head of {entry.name} is broken: {exc}.")
        return
    if was_cut:
        body += f"\n(Cut here: the file is larger than {MAX_FILE_BYTES} bytes.)"
    assert found.skills is not None
    found.skills.append(
        {
            "name": _line(head.get("name"), MAX_NAME_CHARS) or entry.name,
            "description": _line(head.get("description"), MAX_DESCRIPTION_CHARS),
            "text": body + _others(base, entry),
            "address": address,
        }
    )


def _others(base: str, entry: _Entry) -> str:
    """Its other files stay where they are; an agent can have them by webfetch."""
    names = [name for name in entry.files if name != _MAIN and ".." not in name.split("/")]
    if not names:
        return ""
    listed = (f"- {base}/{quote(entry.name)}/{quote(clean_text(name))}" for name in names)
    return "\n".join(["", "", "Other files of this skill:", *list(listed)[:_MAX_FILES]])


def _line(value: object, limit: int) -> str:
    return " ".join(str(value).split())[:limit] if isinstance(value, str | int | float) else ""


async def _get(url: str, max_bytes: int) -> tuple[str, bool]:
    return await fetch_text(
        url,
        timeout_s=TIMEOUT_S,
        max_bytes=max_bytes,
        user_agent=f"opencode-web/{settings.VERSION}",
    )
