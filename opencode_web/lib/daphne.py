"""Daphne without the TLS of twisted, which nothing here speaks: a proxy in front does.

OpenSSL and what twisted has around it would be a tenth of a second of each start.
"""

from __future__ import annotations

import importlib
from typing import Any

from opencode_web.lib.importing import without_module

with without_module("OpenSSL"):
    http_protocol: Any = importlib.import_module("daphne.http_protocol")
    server: Any = importlib.import_module("daphne.server")
