from __future__ import annotations

import hashlib

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage


def build_id() -> str:
    """Which build of the program runs here. A page that was made by another one should be read
    again, for its scripts and fragments may not fit together.

    Returns: BUILD_ID, or a digest over the version and the names of all static files.
    """
    if settings.BUILD_ID:
        return str(settings.BUILD_ID)
    files = getattr(staticfiles_storage, "manifest_hash", "")
    return hashlib.sha256(f"{settings.VERSION} {files}".encode()).hexdigest()[:12]
