from __future__ import annotations

import gc

from django.apps import AppConfig
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig

from opencode_web.lib.plugins.loading import load_plugins


class OpencodeWebConfig(AppConfig):
    name = "opencode_web"
    label = "opencode_web"

    def ready(self) -> None:
        load_plugins(settings.PLUGINS)
        # What is imported by now lives as long as the process: it need not be looked at again.
        gc.freeze()
        gc.enable()


class OwnStaticFilesConfig(StaticFilesConfig):
    # Files of packages that no page of ours asks for; django_htmx's do not even pass the hashing.
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "django_htmx", "account", "allauth"]
