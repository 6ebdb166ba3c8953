"""Calling the hooks of a session's plugins, and what becomes of those that fail.

A plugin that throws loses its change. One that takes too long does, too, with all that are asked
after it: the process is ended, and started again once in a turn. After a few times it is off. What
may forbid something (`stops`) is stricter: whatever keeps it from answering forbids.

Calls that run beside each other are asked about one after the other: what ends the process for
one does not fail the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from itertools import takewhile

from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.models import Session, ToolDescription
from sessions.repository.brought import Brought
from sessions.repository.custom_tools import Described, described
from sessions.repository.plugins import EVENT, LIMITS_S, SAID, Plugin, PluginNote, assumed
from sessions.runner.offers.mcp_kept import end_server
from sessions.runner.offers.plugin_client import PluginClient
from sessions.runner.offers.plugin_host import (
    PluginProcess,
    plain_words,
    plugin_process,
    require_loaded,
    short,
)
from sessions.sandboxes.build import sandbox_for
from tools.errors import ToolError
from tools.mcp.exchange import Greeted, Server
from tools.plugins.host import HookCall, Hooked, PluginLate, call_hooks
from tools.plugins.loaded import problems_of

logger = logging.getLogger(__name__)

_STARTS_A_TURN = 2
_MAX_KNOWN = 1_000
_ENDED = "The process of the plugins ended twice in this turn. It is started again in the next."
_waking: set[asyncio.Task[None]] = set()
# How often the process of a session was started in a turn.
_starts: OrderedDict[str, tuple[str, int]] = OrderedDict()


class PluginForbids(ToolError):
    """A plugin has forbidden a call, or could not be asked."""


@dataclass(frozen=True)
class HookAnswer:
    """What came of a hook; `output` is what was given where nothing of use came."""

    output: JsonObject
    notes: tuple[PluginNote, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether a plugin has changed something."""
        return bool(self.changed)


@dataclass(frozen=True)
class Asked:
    """What plugins are to change. `stops`: what they say may forbid it."""

    hook: str
    given: JsonObject = field(repr=False)
    output: JsonObject = field(repr=False)
    stops: bool = False


@dataclass(frozen=True)
class _Start:
    """Starts the process, but not again and again in one turn."""

    process: PluginProcess
    turn: str

    def connect(self) -> AbstractAsyncContextManager[Greeted]:
        """Raises: ToolError, also as the program does."""
        session_id = self.process.session.pk
        turn, starts = _starts.pop(session_id, ("", 0))
        starts = starts + 1 if turn == self.turn else 1
        _starts[session_id] = (self.turn, starts)
        while len(_starts) > _MAX_KNOWN:
            _starts.popitem(last=False)
        if starts > _STARTS_A_TURN:
            raise ToolError(_ENDED)
        return self.process.connect()


@dataclass(frozen=True)
class SessionPlugins:
    """The trusted plugins where a session works. `turn` is the prompt that is worked on."""

    turn: str
    plugins: tuple[Plugin, ...]
    process: PluginProcess = field(repr=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    def has(self, *hooks: str) -> bool:
        """Whether a plugin is to be called for one of them, or its absence is to be noticed."""
        return any(hook in plugin.hooks for plugin in self.plugins for hook in hooks)

    def notes(self, hook: str, did: str, why: str) -> tuple[PluginNote, ...]:
        """Returns: the same of every plugin that has a hook."""
        having = (plugin.path for plugin in self.plugins if hook in plugin.hooks)
        return tuple(PluginNote(path, hook, did, why) for path in having)

    async def call(
        self, hook: str, given: JsonObject, output: JsonObject, *, stops: bool = False
    ) -> HookAnswer:
        """Have the plugins change `output`, of which the caller takes what they may change.

        Raises: PluginForbids, only when `stops`.
        """
        [answer] = await self.call_each([Asked(hook, given, output, stops=stops)])
        return answer

    async def call_each(self, asked: Sequence[Asked]) -> list[HookAnswer]:
        """As `call`, for several that do not depend on one another: they are sent at once."""
        answers: list[HookAnswer] = []
        async with self._asking:
            while len(answers) < len(asked):
                try:
                    await self._ask(asked, answers)
                except PluginForbids:
                    raise
                except ToolError as exc:
                    # The process may be at anything, so it begins anew.
                    answers.append(await self._without(asked[len(answers)], exc))
        return answers

    def _having(self, hook: str, *, off: bool | None = None) -> list[str]:
        return [
            plugin.path
            for plugin in self.plugins
            if hook in plugin.hooks and off in (None, plugin.is_off)
        ]

    def _answer(self, asked: Asked, answer: Hooked) -> HookAnswer:
        hook, stops, having = asked.hook, asked.stops, self._having(asked.hook)
        failed = {path: short(why) for path, why in answer.failed.items() if path in having}
        for path in failed:
            self._log(hook, path, "failed")
        if stops and answer.failed:
            said = [f"{path}: {clean_text(answer.failed[path])}" for path in failed]
            raise PluginForbids(said[0] if said else "A plugin forbids this.")
        changed = tuple(path for path in answer.changed if path in having)
        notes = [PluginNote(path, hook, "changed") for path in changed]
        notes += [PluginNote(path, hook, "failed", why) for path, why in failed.items()]
        return HookAnswer(answer.output, tuple(notes), changed)

    async def _ask(self, asked: Sequence[Asked], answers: list[HookAnswer]) -> None:
        """Add answers for what has none yet. Raises: ToolError about the next one."""
        first, *others = asked[len(answers) :]
        off, wanted = self._having(first.hook, off=True), self._having(first.hook, off=False)
        if first.stops and off:
            raise PluginForbids(
                f"{off[0]} decides about this, and was switched off because it took too long three "
                "times. An admin of the team can reload the plugins on the page Agent files."
            )
        if not wanted:
            answers.append(HookAnswer(first.output))
            return
        async with self._kept().connect() as greeted:
            require_loaded(greeted, {*wanted})
            client = PluginClient(self.process.session, self.turn)

            def answered(one: Hooked) -> None:
                hook = asked[len(answers)]
                answer = self._answer(hook, one)
                said = (PluginNote("", hook.hook, SAID, text) for text in client.said)
                answers.append(replace(answer, notes=(*answer.notes, *said)))
                client.said.clear()

            lost = problems_of(greeted).keys()
            sent = [first, *takewhile(lambda one: lost.isdisjoint(self._having(one.hook)), others)]
            await call_hooks(
                greeted.exchange,
                [
                    HookCall(
                        one.hook,
                        one.given,
                        one.output,
                        LIMITS_S[one.hook],
                        self._having(one.hook, off=True),
                        one.stops,
                    )
                    for one in sent
                ],
                on_answer=answered,
                client=client,
            )

    def _kept(self) -> Server:
        return self.process.kept(_Start(self.process, self.turn))

    def wake(self) -> None:
        """Have plugins that hear of events be there without being asked for anything else."""
        if self.has(EVENT):
            task = asyncio.create_task(self._wake())
            _waking.add(task)
            task.add_done_callback(_waking.discard)

    async def _wake(self) -> None:
        try:
            async with self._kept().connect():
                pass
        except ToolError:
            self._log(EVENT, "", "not_started")

    async def _without(self, asked: Asked, exc: ToolError) -> HookAnswer:
        hook, paths, did, why = asked.hook, self._having(asked.hook), "failed", plain_words(exc)
        late = exc.path if isinstance(exc, PluginLate) else ""
        await self._end(late)
        if isinstance(exc, PluginLate):
            did, paths = "late", [late] if late in paths else paths
        for path in paths:
            self._log(hook, path, did)
        if asked.stops:
            raise PluginForbids(f"{', '.join(paths)} could not be asked ({hook}). {why}") from exc
        return HookAnswer(asked.output, tuple(PluginNote(path, hook, did, why) for path in paths))

    def _log(self, hook: str, path: str, did: str) -> None:
        """What a plugin says may be anything that it was shown: that stays in the session."""
        session_id = self.process.session.pk
        logger.warning("plugin.%s session=%s plugin=%s hook=%s", did, session_id, path, hook)

    async def _end(self, late: str) -> None:
        """Nobody knows what it is at, so it begins anew."""
        await end_server(self.process.key)
        if late in {plugin.path for plugin in self.plugins}:
            session = self.process.session
            digest = self.process.brought.run_digest
            await in_db(_count_late, session.project_id, digest, late)


def session_plugins(session: Session, brought: Brought, turn: str) -> SessionPlugins | None:
    """Returns: the plugins where a session works; None, without a query, where there are none."""
    if not brought.runs_plugins:
        return None
    found = described(session.project, brought) or Described(plugins=assumed(brought))
    plugins = found.plugins
    if not any(plugin.hooks for plugin in plugins):
        return None
    process = plugin_process(session, brought, sandbox_for(session)).without(found.off)
    return SessionPlugins(turn, plugins, process)


@transaction.atomic
def _count_late(project_id: str, digest: str, path: str) -> None:
    rows = ToolDescription.objects.select_for_update().filter(project=project_id, digest=digest)
    row = rows.first()
    if row is not None:
        row.late = {**row.late, path: row.late.get(path, 0) + 1}
        row.save(update_fields=["late"])
