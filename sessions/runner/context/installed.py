"""`custom/<plugin>/<name>`: texts of plugins that the operator has installed beside the server.

Their hooks are asked once at each boundary. While one fails, what it said before stays; once its
plugin rests, or its package is gone, that is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from opencode_web.lib.plugins.calls import HookFailed, ask_hook_now, refuse_result
from opencode_web.lib.plugins.loading import Hook, active_hooks
from opencode_web.lib.plugins.values import Place
from sessions.models import Session
from sessions.repository.reading import Unavailable
from sessions.runner.context.documents import Document, Documents, bound, document_source
from sessions.runner.context.source import ContextInputs, Source

PREFIX = "custom/"
MAX_TEXTS = 32
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_INTRO = "From a plugin that the operator of this server has installed."


def place_of(session: Session) -> Place:
    """Where a session works, as plugins are told."""
    return Place(
        team_id=session.project.team_id,
        project_id=session.project_id,
        directory=Path(session.directory),
        worktree=Path(session.worktree),
    )


def sources(place: Place, known: Iterable[str]) -> list[Source[Documents]]:
    """Returns: a source for each text that there is, or that the model knows (`known`)."""
    texts: dict[str, str] = {}
    silent: list[str] = []
    for hook in active_hooks("context_sources"):
        start = f"{PREFIX}{hook.plugin.name}/"
        try:
            texts |= {start + name: text for name, text in _ask(hook, place).items()}
        except HookFailed:
            silent.append(start)  # it is counted and in the log
    keys = {*texts, *(key for key in known if key.startswith(PREFIX))}
    return [_source(key, texts.get(key), key.startswith(tuple(silent))) for key in sorted(keys)]


def _ask(hook: Hook, place: Place) -> Mapping[str, str]:
    found = ask_hook_now(hook, {"place": place})
    if not isinstance(found, Mapping) or len(found) > MAX_TEXTS:
        raise refuse_result(hook, f"returned no mapping, or more than {MAX_TEXTS} texts")
    for name, text in found.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(text, str):
            raise refuse_result(hook, "returned something that is no text, or has no plain name")
    return found


def _source(key: str, text: str | None, is_silent: bool) -> Source[Documents]:
    def observe(_inputs: ContextInputs, _known: Documents | None) -> Documents | None:
        if is_silent:
            raise Unavailable(key)
        return bound([Document(origin=key.removeprefix(PREFIX), text=text or "")])

    return document_source(key, _INTRO, observe)
