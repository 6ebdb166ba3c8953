"""The web process: static files, pages and REST over HTTP."""

from __future__ import annotations

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

from opencode_web.checks import require_sound_settings
from opencode_web.lib.static import StaticFilesApp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")

_pages = get_asgi_application()
require_sound_settings()
application = ProtocolTypeRouter({"http": StaticFilesApp(_pages)})
