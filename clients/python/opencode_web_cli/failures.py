"""Why a command ends, as its exit code.

0 done · 1 the turn or the request failed · 2 wrong arguments · 3 done, but something that the agent
asked for was refused, for nobody was there to allow it · 4 stopped at the limit of its cost ·
124 out of time · 130 interrupted
"""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """See above."""

    OK = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    OVER_BUDGET = 4
    TIMEOUT = 124
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the command with a sentence for people. `session` is that of the run, if it had one."""

    def __init__(self, message: str, code: Code = Code.FAILED) -> None:
        super().__init__(message)
        self.code = code
        self.session = ""
