"""What a session knows of the files in its worktree: `tools.context.FileLedger` over rows."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager

from django.db.models import Exists, OuterRef

from opencode_web.lib.db import in_db
from sessions.events.bodies import FileEvent
from sessions.events.live import publish_edited
from sessions.models import Part, SeenFile, Session


class SessionFiles:
    """Of one call. `lock` is held by the one call of a step that changes files."""

    def __init__(self, session: Session, part_id: str, lock: asyncio.Lock) -> None:
        self._session = session
        self._part_id = part_id
        self._lock = lock

    def changing(self) -> AbstractAsyncContextManager[None]:
        """See `FileLedger.changing`."""
        return self._lock

    async def seen(self, key: str) -> str | None:
        """See `FileLedger.seen`."""
        row = await in_db(self._newest, key)
        return row.digest or None if row else None

    async def mark_seen(self, key: str, digest: str) -> None:
        """See `FileLedger.mark_seen`."""
        await in_db(self._keep, {key: digest})

    async def mark_changed(
        self, digests: Mapping[str, str | None], *, new: Collection[str] = ()
    ) -> None:
        """See `FileLedger.mark_changed`."""
        await in_db(self._keep, digests)
        changes: dict[str, FileEvent] = {
            key: "unlink" if digest is None else "add" if key in new else "change"
            for key, digest in digests.items()
        }
        publish_edited(self._session, changes)

    def _newest(self, key: str) -> SeenFile | None:
        own = Part.objects.filter(pk=OuterRef("part_id"), session=self._session)
        rows = SeenFile.objects.filter(session=self._session, path_digest=_digest(key))
        return rows.filter(Exists(own)).order_by("-pk").first()

    def _keep(self, digests: Mapping[str, str | None]) -> None:
        rows = [
            SeenFile(
                session_id=self._session.pk,
                part_id=self._part_id,
                path_digest=_digest(key),
                digest=digest or "",
            )
            for key, digest in digests.items()
        ]
        SeenFile.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["session", "path_digest", "part_id"],
            update_fields=["digest"],
        )


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
