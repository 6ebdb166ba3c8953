"""Settings of a server whose Slack is played, at the address in PLAYED_SLACK."""

from __future__ import annotations

import os

from opencode_web.settings import *  # noqa: F403 - they are all of them, but for one
from opencode_web.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [*_APPS, "tests.e2e.played_slack.PlayedSlack"]
PLAYED_SLACK = os.environ["PLAYED_SLACK"]
