"""Settings of a server whose Linear is played on loopback."""

from __future__ import annotations

import os

from opencode_web.settings import *  # noqa: F403 - they are all of them, but for one

LINEAR_API = os.environ["PLAYED_LINEAR"]
