from __future__ import annotations

import signal

# Python ignores these itself, and `subprocess` gives a child their default back.
_IGNORED_BY_PYTHON = frozenset({signal.SIGPIPE, signal.SIGXFSZ})


def keep_ignored_signals() -> None:
    """Go on ignoring what this process was started to ignore, and have no child inherit that.

    What is ignored or blocked stays so in every program that is started: under nohup, or in the
    background of a shell, no signal of a terminal would end a command. A handler, even one that
    does nothing, is not inherited: a child starts with the default. So this is the one place for
    all children, whoever starts them.

    Must run in the main thread, before any other thread starts.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - _IGNORED_BY_PYTHON:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
