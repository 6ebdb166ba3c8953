from __future__ import annotations

import json
import re
from typing import Any

from django.test import Client


def save_settings(
    browser: Client, page: str, config: object, **more: Any
) -> Any:  # Any: what a test client answers
    """Send the form of settings that stands on a page; a text is sent as it is."""
    seen = re.search(r'name="seen" value="(\w+)"', browser.get(page).content.decode())
    assert seen is not None
    text = config if isinstance(config, str) else json.dumps(config)
    return browser.post(page, {"config": text, "seen": seen[1]}, **more)
