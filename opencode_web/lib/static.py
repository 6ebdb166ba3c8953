from __future__ import annotations

from typing import Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from django.conf import settings
from servestatic import ServeStaticASGI
from servestatic.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """Hashed names, also inside `import` statements of our ES modules, each also compressed."""

    support_js_module_import_aggregation = True
    # One for each module of the longest chain of imports, at worst: the order of a folder decides.
    max_post_process_passes = 20


class StaticFilesApp:
    """Serve STATIC_ROOT before the application. Hashed names are immutable for browsers.

    The folder is read at the first request for a static file: `up` fills it after this is made.
    """

    def __init__(self, application: Any) -> None:  # Django's handler has looser types than ASGI's
        self._application = application
        self._files: ServeStaticASGI | None = None

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> Any:
        if scope["type"] != "http" or not scope["path"].startswith(settings.STATIC_URL):
            return await self._application(scope, receive, send)
        if self._files is None:
            self._files = ServeStaticASGI(
                self._application,
                root=settings.STATIC_ROOT,
                prefix=settings.STATIC_URL,
                allow_all_origins=False,
                mimetypes={".speculationrules": "application/speculationrules+json"},
            )
        return await self._files(scope, receive, send)
