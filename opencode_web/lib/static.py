from __future__ import annotations

from typing import Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from servestatic import ServeStaticASGI
from servestatic.storage import CompressedManifestStaticFilesStorage

try:
    import minify  # type: ignore[import-untyped]  # no types
except ImportError:  # it is not built for Macs with Apple silicon
    minify = None

_VALIDATORS = (b"etag", b"last-modified")


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """Hashed names, also inside `import` statements of our ES modules, each also compressed."""

    support_js_module_import_aggregation = True
    # One for each module of the longest chain of imports, at worst: the order of a folder decides.
    max_post_process_passes = 20

    def post_process(self, paths: Any, dry_run: bool = False, **options: Any) -> Any:
        ours = {name: _small(name, place) for name, place in paths.items()}
        return super().post_process(ours, dry_run, **options)


class _Minified(Storage):
    """The scripts of a storage, without comments and blanks."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def open(self, name: str, mode: str = "rb") -> ContentFile[bytes]:
        with self._storage.open(name) as file:
            return ContentFile(
                minify.string("text/javascript", file.read().decode()).encode(), name
            )


def _small(name: str, place: tuple[Storage, str]) -> tuple[Storage, str]:
    storage, path = place
    is_ours = name.startswith("js/") and name.endswith(".js")
    return (_Minified(storage), path) if is_ours and minify else place


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
            )

        async def without_validators(event: ASGISendEvent) -> None:
            await send(_without_validators(event))

        return await self._files(scope, receive, without_validators)


def _without_validators(event: ASGISendEvent) -> ASGISendEvent:
    """What never changes is never asked for again: a page has some forty such files."""
    if event["type"] != "http.response.start":
        return event
    headers = [*event["headers"]]
    if any(name.lower() == b"cache-control" and b"immutable" in value for name, value in headers):
        headers = [one for one in headers if one[0].lower() not in _VALIDATORS]
    return {**event, "headers": headers}
