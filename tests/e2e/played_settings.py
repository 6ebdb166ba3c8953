"""Settings of a server whose providers are played inside its own process."""

from __future__ import annotations

from opencode_web.settings import *  # noqa: F403 - they are all of them, but for one

PROVIDER_TRANSPORT = "tests.e2e.played.Played"
