"""Settings of a server whose bus delivers nothing while the file `mute` is in its data folder."""

from __future__ import annotations

from opencode_web.settings import *  # noqa: F403 - they are all of them, but for one
from opencode_web.settings import CHANNEL_LAYERS, EMBEDDED

CHANNEL_LAYERS["default"]["BACKEND"] = (
    "tests.e2e.mute.MuteMemory" if EMBEDDED else "tests.e2e.mute.MuteRedis"
)
