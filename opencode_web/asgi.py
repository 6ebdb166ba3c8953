"""The web process: static files, pages and REST over HTTP, and the browser's websocket."""

from __future__ import annotations

import importlib
import os

import django
from channels.routing import ProtocolTypeRouter
from django.conf import settings

from opencode_web.checks import require_sound_settings
from opencode_web.handler import PageHandler
from opencode_web.lib.body_limit import BodyLimit, limit_requests
from opencode_web.lib.forwarded import ForwardedClient
from opencode_web.lib.secure_headers import SecureHeaders
from opencode_web.lib.signals import keep_ignored_signals
from opencode_web.lib.slow_requests import limit_slow_requests
from opencode_web.lib.static import StaticFilesApp
from opencode_web.observation import observe

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")

keep_ignored_signals()
django.setup(set_prefix=False)
_pages = PageHandler()
require_sound_settings()
# By name, because the apps can be imported only now.
_grants_of = importlib.import_module("opencode_web.cors").grants_of
limit_requests(_grants_of)
limit_slow_requests()
observe("web")
if not settings.EMBEDDED:
    # Of the embedded server its worker says that it lives.
    importlib.import_module("opencode_web.heartbeat").Heartbeat("web").start()
_consumers = importlib.import_module("sessions.consumers")

application = ForwardedClient(
    _consumers.PreviewHosts(
        SecureHeaders(
            ProtocolTypeRouter(
                {
                    "http": BodyLimit(StaticFilesApp(_pages), _grants_of),
                    # Signs in by cookie and checks the page's origin.
                    "websocket": _consumers.websocket_application,
                }
            )
        )
    )
)
