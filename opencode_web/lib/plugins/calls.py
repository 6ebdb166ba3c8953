"""One call of a hook or tool of a package: in a thread of its own, and no longer than it may take.

Neither a loop nor a transaction of the server waits in code of others, and a thread that hangs
keeps no process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Any

from django.db import connections

from opencode_web.lib.plugins.loading import Hook, place_of
from opencode_web.lib.plugins.values import ToolFailure

logger = logging.getLogger(__name__)

# For each plugin. Units: seconds.
LIMITS_S = {
    "before_tool": 5.0,
    "after_tool": 5.0,
    "context_sources": 0.5,
    "terminal_environment": 5.0,
}
# What people and models write can make them raise, and must not switch them off for others: such a
# call is forbidden. Only what is late is not asked again.
_OF_CALLS = frozenset({"before_tool", "after_tool"})


class HookFailed(Exception):
    """A hook has raised or was late, which is counted. Its text is a sentence for people."""

    def __init__(self, why: str, *, is_late: bool = False) -> None:
        super().__init__(why)
        self.is_late = is_late


class Late(Exception):
    """A call has taken longer than it may."""


class _Call:
    """A call that has begun."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.future: Future[object] = Future()
        self.future.set_running_or_notify_cancel()
        self._function = function
        self._loop: asyncio.AbstractEventLoop | None = None
        Thread(target=self._work, name="plugin", daemon=True).start()

    def _work(self) -> None:
        result: object = None
        failed: BaseException | None = None
        try:
            result = self._function()
            if inspect.iscoroutine(result):
                result = self._finish(result)
        except asyncio.CancelledError:
            failed = Late()
        except (StopIteration, SystemExit, KeyboardInterrupt, GeneratorExit) as exc:
            # It would never get to the loop that waits, or end it.
            failed = RuntimeError(type(exc).__name__).with_traceback(exc.__traceback__)
        except Exception as exc:  # the edge of a package: whoever waits is told
            failed = exc
        connections.close_all()
        if failed is not None:
            self.future.set_exception(failed)
        else:
            self.future.set_result(result)

    def _finish(self, coroutine: Coroutine[Any, Any, object]) -> object:  # Any: see typing
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            return runner.run(coroutine)

    def stop(self) -> None:
        """Cancel a coroutine; a function that blocks is left to itself."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(lambda: [one.cancel() for one in asyncio.all_tasks(loop)])


async def call_limited(function: Callable[[], object], limit_s: float) -> object:
    """Returns: what the function does; whoever stops waiting stops it, too.

    Raises: Late, and whatever the function does.
    """
    call = _Call(function)
    done = asyncio.wrap_future(call.future)
    try:
        await asyncio.wait([done], timeout=limit_s)
        if not done.done():
            raise Late
        return done.result()
    finally:
        if not done.done():
            done.cancel()
            call.stop()


async def ask_hook(hook: Hook, given: Mapping[str, object]) -> object:
    """Returns: what the hook does. Raises: ToolFailure as the hook does; HookFailed."""
    try:
        result = await call_limited(partial(hook.call, given), LIMITS_S[hook.name])
    except Exception as exc:  # the edge of one call, which is counted
        raise _failed(hook, exc) from exc
    hook.plugin.note_success(hook.name)
    return result


def ask_hook_now(hook: Hook, given: Mapping[str, object]) -> object:
    """As `ask_hook`, for callers that have no loop. Raises: HookFailed."""
    call = _Call(partial(hook.call, given))
    try:
        result = call.future.result(LIMITS_S[hook.name])
    except Exception as exc:  # the edge of one call, which is counted
        is_late = not call.future.done()
        if is_late:
            call.stop()
        raise _failed(hook, Late() if is_late else exc) from exc
    hook.plugin.note_success(hook.name)
    return result


def refuse_result(hook: Hook, why: str) -> HookFailed:
    """Returns: the failure of a hook that has returned what it may not, which is counted."""
    hook.plugin.note_fault(hook.name, why, counts=hook.name not in _OF_CALLS)
    return HookFailed(f"{hook.plugin.name}: {why}")


def _failed(hook: Hook, exc: BaseException) -> Exception:
    if isinstance(exc, ToolFailure):
        hook.plugin.note_success(hook.name)
        return exc
    is_late = isinstance(exc, Late)
    why = f"took longer than {LIMITS_S[hook.name]:g} seconds" if is_late else place_of(exc)
    hook.plugin.note_fault(hook.name, why, counts=is_late or hook.name not in _OF_CALLS)
    logger.warning(
        "plugin.%s plugin=%s hook=%s",
        "late" if is_late else "failed",
        hook.plugin.name,
        hook.name,
        exc_info=None if is_late else exc,
    )
    return HookFailed(f"{hook.plugin.name}: {why}", is_late=is_late)
