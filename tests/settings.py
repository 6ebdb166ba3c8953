from __future__ import annotations

import os
import tempfile
from pathlib import Path

_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_scratch = Path(
    os.environ.setdefault("OPENCODE_WEB_TEST_DIR", tempfile.mkdtemp(prefix="ocw-tests-"))
)
os.environ["OPENCODE_WEB_DATA"] = str(_scratch / _worker)
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "x" * 40)

from opencode_web.settings import *  # noqa: E402, F403
from opencode_web.settings import CACHES, CHANNEL_LAYERS, DATA_DIR, DATABASES, EMBEDDED  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
DATA_DIR.mkdir(parents=True, exist_ok=True)
# Every server of a test is on loopback.
ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.0/8", "::1", "localhost"]
# Nothing here has to survive a power cut.
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    DATABASES["default"]["ENGINE"] = "tests.postgres"
    # Several processes of tests and their servers share the connections of one server.
    DB_THREADS = 3
    DATABASES["default"].setdefault("OPTIONS", {})["options"] = "-c synchronous_commit=off"
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["ENGINE"] = "tests.sqlite"
    # A file: in-memory databases cannot be shared by the threads of `in_db` without lock errors.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
    DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
# A ring of the doorbell costs nothing here; tests that want a worker start one, with a broker of
# their own.
CELERY_BROKER_URL = "memory://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
if not EMBEDDED:
    # Neither the workers of one run nor two runs may hear each other.
    CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = f"{_scratch.name}.{_worker}"
# Clearing Redis between tests would take the channels of others along.
CACHES = {name: CACHES["default"] | {"LOCATION": name} for name in CACHES}
# Tests count the requests that a provider gets.
TITLES = False
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
LOGGING = {"version": 1, "disable_existing_loggers": False}
