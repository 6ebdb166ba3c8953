"""What a sandbox ended a program for: the end of a sentence about it. See `lib.reasons`."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Cause, Reason


class StopReason(Reason):
    """The limit that it exceeded."""

    MEMORY = "stop_memory", gettext_noop("used more than {limit} of memory")
    PROCESSOR = "stop_processor", gettext_noop("used more than {limit} s of processor time")
    PROCESSES = (
        "stop_processes",
        gettext_noop("started more than {limit} processes and threads"),
    )
    FILE = "stop_file", gettext_noop("wrote a file of more than {limit}")
    DISK = "stop_disk", gettext_noop("left less than {limit} free on the disk")
    HOME = "stop_home", gettext_noop("kept more than {limit} in the session's home and /tmp")

    def over(self, limit: int) -> Cause:
        return Cause(self, {"limit": limit})

    def over_bytes(self, limit: int) -> Cause:
        return Cause(self, {"limit": f"{limit // (1024 * 1024)} MB"})
