"""The web process: static files, pages and REST over HTTP, and the browser's websocket."""

from __future__ import annotations

import importlib
import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

from opencode_web.checks import require_sound_settings
from opencode_web.lib.static import StaticFilesApp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")

_pages = get_asgi_application()
require_sound_settings()
# By name, because the apps can be imported only now.
_consumers = importlib.import_module("sessions.consumers")

application = ProtocolTypeRouter(
    {
        "http": StaticFilesApp(_pages),
        # Signs in by cookie and checks the page's origin.
        "websocket": _consumers.websocket_application,
    }
)
