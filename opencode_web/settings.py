"""The whole configuration, read top to bottom. Nothing else reads the environment.

Every variable is listed in docker/env.example. `env_secret` also reads `NAME_FILE`.
"""

from __future__ import annotations

import os
import re
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from csp.constants import NONE, SELF

from opencode_web.lib.log_format import logging_config

_own: set[str] = set()


def env(name: str, default: str = "") -> str:
    _own.add(name)
    return os.environ.get(name, default)


def env_bool(name: str, default: bool = False) -> bool:
    return env(name, str(default)).strip().lower() in {"1", "true", "yes", "on"}


def env_int(name: str, default: int, *, least: int = 0) -> int:
    text = env(name, str(default))
    # Nothing can start without settings, so every entry point ends with the same sentence.
    if not text.strip().isdecimal():
        raise SystemExit(f"{name} must be a whole number, not {text!r}.")
    if int(text) < least:
        raise SystemExit(f"{name} must be at least {least}, not {text}.")
    return int(text)


def env_list(name: str, default: str = "") -> list[str]:
    return [item.strip() for item in env(name, default).split(",") if item.strip()]


def env_secret(name: str) -> str:
    path = env(f"{name}_FILE")
    try:
        return Path(path).read_text().strip() if path else env(name)
    except OSError as exc:
        raise SystemExit(f"{name}_FILE cannot be read: {path} ({exc.strerror}).") from exc


BASE_DIR = Path(__file__).resolve().parent.parent
# Documentation, templates and static files; a wheel has them inside the package.
_packed = BASE_DIR / "opencode_web" / "assets"
ASSETS_DIR = _packed if _packed.is_dir() else BASE_DIR
VERSION = "0.1.0"
# Tells pages that another build runs now; without it, that other static files are served does.
BUILD_ID = env("BUILD_ID")

# ---- Where things are kept -------------------------------------------------------------------
# Everything the server writes besides its database and the projects' files.
_data = "~/.local/share/opencode-web" if ASSETS_DIR != BASE_DIR else str(BASE_DIR / "var")
DATA_DIR = Path(env("OPENCODE_WEB_DATA", _data)).expanduser().absolute()
# Projects live below this folder: clones, empty ones, and folders that operators assign to teams.
WORKTREES_DIR = (
    Path(env("OPENCODE_WEB_WORKTREES", str(DATA_DIR / "worktrees"))).expanduser().absolute()
)
# The name of this host in a Location. Drains of a project on this host's own disk are routed here.
HOST_NAME = env("OPENCODE_WEB_HOST", "local")

REDIS_URL = env_secret("REDIS_URL")
# Embedded: web server, worker and beat in one process, without Redis.
EMBEDDED = not REDIS_URL
DEBUG = env_bool("DEBUG")


def _secret_key() -> str:
    """The given secret, or for the embedded server one that is made once and kept."""
    given = env_secret("SECRET_KEY")
    if given or not EMBEDDED:
        return given or "insecure-no-secret-key-was-set"
    path = DATA_DIR / "secret_key"
    try:
        if not path.exists():
            DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = DATA_DIR / f"secret_key.{os.getpid()}"
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(50))
            try:
                # Of two processes that start at once the first one's key counts, and it is whole.
                path.hardlink_to(draft)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return path.read_text()
    except OSError as exc:
        raise SystemExit(
            f"The data folder {DATA_DIR} cannot be used ({exc.strerror}). "
            "Set OPENCODE_WEB_DATA to a folder that this user can write to."
        ) from exc


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = env_list("SECRET_KEY_FALLBACKS")
# Encrypts backups, for the commands that make, check and restore them.
BACKUP_PASSPHRASE = env_secret("BACKUP_PASSPHRASE")
# Hours after which the operator console warns that the newest backup is old; 0 for never.
BACKUP_MAX_AGE_H = env_int("BACKUP_MAX_AGE_H", 0)
# The address people use, for links in invitations; without it the address of the request is used.
PUBLIC_URL = env("PUBLIC_URL").rstrip("/")
_public = urlsplit(PUBLIC_URL)
PUBLIC_ORIGIN = f"{_public.scheme}://{_public.netloc}" if PUBLIC_URL else ""
# Below which path everything is served, such as /agents: the one of PUBLIC_URL. A proxy in front
# must pass the path on as it is.
_base = env("BASE_PATH", _public.path).strip("/ ")
BASE_PATH = f"/{_base}" if _base else ""
if PUBLIC_URL and not _public.path:
    PUBLIC_URL += BASE_PATH
HTTPS = PUBLIC_URL.startswith("https://")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
# Origins whose pages may call the API with a token, such as https://ide.example.com.
CORS_ORIGINS = env_list("CORS_ORIGINS")
if PUBLIC_URL:
    ALLOWED_HOSTS.append(_public.hostname or "")
    CSRF_TRUSTED_ORIGINS.append(PUBLIC_ORIGIN)
# Where `up` listens.
LISTEN_HOST = env("LISTEN_HOST", "127.0.0.1")
LISTEN_PORT = env_int("PORT", 4096)
BEHIND_TLS_PROXY = env_bool("BEHIND_TLS_PROXY")
# Proxies in front that each append to X-Forwarded-For. The address that the first of them added
# is the client's; without it everybody's failed sign-ins would count as the proxy's.
TRUSTED_PROXY_COUNT = env_int("TRUSTED_PROXY_COUNT", 1 if BEHIND_TLS_PROXY else 0)
if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# ---- Django ----------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "opencode_web.apps.OwnStaticFilesConfig",
    *("django_htmx", "csp", "allauth", "allauth.account", "allauth.usersessions", "allauth.mfa"),
    *("allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"),
    "allauth.socialaccount.providers.github",
    *(["allauth.socialaccount.providers.saml"] if find_spec("onelogin") else []),
    "opencode_web.apps.OpencodeWebConfig",
    "teams.apps.TeamsConfig",
    "providers.apps.ProvidersConfig",
    "tools.apps.ToolsConfig",
    "sessions.apps.SessionsConfig",
]
# All of these run asynchronously too: a synchronous one would move every request to a thread.
MIDDLEWARE = [
    "opencode_web.middleware.OriginMiddleware",
    "opencode_web.cors.CorsMiddleware",
    "opencode_web.async_middleware.SecurityMiddleware",
    "opencode_web.async_middleware.CSPMiddleware",
    "opencode_web.async_middleware.SessionMiddleware",
    "opencode_web.async_middleware.CommonMiddleware",
    "opencode_web.async_middleware.CsrfViewMiddleware",
    "opencode_web.async_middleware.AuthenticationMiddleware",
    "opencode_web.async_middleware.MessageMiddleware",
    "opencode_web.async_middleware.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "opencode_web.language.LanguageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "opencode_web.middleware.AppErrorMiddleware",
    "opencode_web.prefetch.PrefetchMiddleware",
]
ROOT_URLCONF = "opencode_web.urls"
ASGI_APPLICATION = "opencode_web.asgi.application"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
# Each by its own name. The last one, to try the layout, is English from right to left.
_pseudo = [("ar-xb", "Right to left")] if env_bool("PSEUDO_LANGUAGE") else []
LANGUAGES = [("en", "English"), ("de", "Deutsch"), *_pseudo]
LOCALE_PATHS = [BASE_DIR / "opencode_web" / "locale"]
FORMAT_MODULE_PATH = ["opencode_web.formats"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "opencode_web.context_processors.site",
            ],
            # `lib` is no app, so its tags are named here.
            "libraries": {"ui": "opencode_web.lib.templatetags.ui"},
        },
    }
]
STATIC_URL = f"{BASE_PATH}/static/"
STATICFILES_DIRS = [ASSETS_DIR / "static"]
STATIC_ROOT = Path(env("STATIC_ROOT", str(DATA_DIR / "static")))
STORAGES: dict[str, dict[str, Any]] = {  # Django's own shape
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "opencode_web.lib.static.ModuleManifestStorage"},
}

# ---- Database --------------------------------------------------------------------------------
DATABASE_URL = env_secret("DATABASE_URL")
# Threads that make the database calls of asynchronous code; each keeps one connection.
DB_THREADS = env_int("DB_THREADS", 6, least=1)
# Threads that run synchronous views; each keeps one connection, too.
WEB_THREADS = env_int("WEB_THREADS", 12, least=1)
# Whether PostgreSQL reads and plans a statement once for each connection instead of every time. Not
# behind a pooler that gives each transaction another connection.
DB_PREPARED_STATEMENTS = env_bool("DB_PREPARED_STATEMENTS", True)
if DATABASE_URL:
    _database: dict[str, Any] = dict(
        dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True)
    )
    if DB_PREPARED_STATEMENTS:
        # psycopg prepares only statements whose values the server binds.
        _database.setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=2)
    DATABASES = {"default": _database}
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "db.sqlite3",
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                # DEFERRED, the default, fails with "database is locked" once two writers meet.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": (
                    "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                    "PRAGMA mmap_size=134217728;PRAGMA cache_size=-16000;"
                ),
            },
        }
    }

# ---- Live messages and background work ---------------------------------------------------------
# Nobody waits for a Redis that hangs.
_REDIS_TIMEOUTS_S = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
CACHES: dict[str, dict[str, Any]] = {  # Django's own shape
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Of requests; what only slows callers down may be lost.
    "counters": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "counters"}
    if EMBEDDED
    else {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": _REDIS_TIMEOUTS_S,
    },
}
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {  # the shape of channels
    "default": {"BACKEND": "opencode_web.lib.memory_layer.MemoryLayer"}
    if EMBEDDED
    else {
        # The list-based layer loses messages over its capacity; an idle reader must not time out.
        "BACKEND": "opencode_web.lib.redis_layer.RedisLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}]},
    }
}
CELERY_BROKER_URL = REDIS_URL or "memory://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (  # the shape of kombu
    {}
    if EMBEDDED
    # The queue is a doorbell and leases recover lost work, so a message must never come twice on
    # its own: the visibility timeout is longer than any turn.
    else {"visibility_timeout": 24 * 3600, **_REDIS_TIMEOUTS_S}
)
# Whatever is not sent to the host of a project runs on the sender's own.
CELERY_TASK_DEFAULT_QUEUE = f"sessions.{HOST_NAME}"
# Sessions that one worker process drains at the same time.
WORKER_CONCURRENCY = env_int("WORKER_CONCURRENCY", 100, least=1)
CELERY_WORKER_CONCURRENCY = WORKER_CONCURRENCY
CELERY_WORKER_POOL = "threads"
# Schedules are intervals of seconds, and lost rings are rung again: nothing to keep on disk.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"

# ---- Sign-in -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "teams.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_ADAPTER = "teams.identity.accounts.InviteOnlyAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
# Invitations are links that somebody hands over, so that no mail server is needed.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
SOCIALACCOUNT_ADAPTER = "teams.identity.social.SocialAdapter"
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {"provider_class": "teams.identity.openid.NonceProvider"},
}
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
MFA_ADAPTER = "teams.identity.factors.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "teams.identity.factors.SignInCodeForm",
    "reauthenticate": "teams.identity.factors.ReauthenticateCodeForm",
    "add_webauthn": "teams.identity.factors.AddKeyForm",
    "authenticate_webauthn": "teams.identity.factors.SignInKeyForm",
    "login_webauthn": "teams.identity.factors.PasskeyForm",
    "reauthenticate_webauthn": "teams.identity.factors.ReauthenticateKeyForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
# Nobody is asked to confirm an address here.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# A phone whose clock is a little off still signs in; a code counts once.
MFA_TOTP_TOLERANCE = 1
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "teams.identity.passwords.CommonWordValidator"},
]
# The server that takes mail, for links to reset passwords; empty to send none. smtp:// is encrypted
# with STARTTLS, smtps:// from the start, and smtp+plain:// (a relay on this host) not at all.
SMTP_URL = env_secret("SMTP_URL")
_smtp = urlsplit(SMTP_URL)
EMAIL_HOST = _smtp.hostname or ""
EMAIL_PORT = _smtp.port or {"smtps": 465, "smtp+plain": 25}.get(_smtp.scheme, 587)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = (
    unquote(_smtp.username or ""),
    unquote(_smtp.password or ""),
)
EMAIL_USE_SSL, EMAIL_USE_TLS = _smtp.scheme == "smtps", _smtp.scheme == "smtp"
EMAIL_TIMEOUT = 20
# Who mail is from.
MAIL_FROM = env("MAIL_FROM") or f"opencode-web@{_public.hostname or 'localhost'}"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Pages have the token in themselves, so no script needs its cookie.
CSRF_COOKIE_HTTPONLY = True
# Other sites below the same host do not get them.
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = BASE_PATH or "/"
# With these names browsers take no cookie that another host of the domain has set.
_prefix = "" if not HTTPS else "__Secure-" if BASE_PATH else "__Host-"
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_prefix}sessionid", f"{_prefix}csrftoken"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SILENCED_SYSTEM_CHECKS = [
    # Our own middleware stands in for Django's, see `async_middleware`.
    *("security.W001", "security.W002", "security.W003"),
    # Over plain HTTP, for one person on this machine or until there is a proxy: W004 of ours tells.
    *("security.W004", "security.W012", "security.W016"),
    # Which other hosts of the domain have HTTPS, and what comes without, is the proxy's to decide.
    *("security.W005", "security.W008", "security.W021"),
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# ---- Limits --------------------------------------------------------------------------------------
DATA_UPLOAD_MAX_MEMORY_SIZE = env_int("MAX_REQUEST_BYTES", 25 * 1024 * 1024)
# Seconds for a whole header, for 4 KiB of a body, and between two requests of a connection; 0: any.
REQUEST_HEADER_TIMEOUT_S = env_int("REQUEST_HEADER_TIMEOUT_S", 20)
REQUEST_BODY_TIMEOUT_S = env_int("REQUEST_BODY_TIMEOUT_S", 30)
KEEP_ALIVE_TIMEOUT_S = env_int("KEEP_ALIVE_TIMEOUT_S", 60)
# Seconds in which a client has to read 64 KiB, and how many of one address may be behind; 0: any.
RESPONSE_TIMEOUT_S = env_int("RESPONSE_TIMEOUT_S", 60)
UNREAD_RESPONSES = env_int("UNREAD_RESPONSES", 20)
# Incomplete requests of one address; of more the oldest is ended. Not counted behind a proxy.
UNFINISHED_REQUESTS = env_int("UNFINISHED_REQUESTS", 100)
# Requests that one API token, or one person with a browser, may make in a minute; 0 for any number.
API_REQUESTS_PER_MINUTE = env_int("API_REQUESTS_PER_MINUTE", 3000)
# Seconds a session lease lives without renewal; a dead worker's sessions are taken over after that.
LEASE_S = env_int("LEASE_S", 10)
# Seconds that a stop lets a running step (an answer, a command) go on before it is cut off and left
# to the next worker. What stops the process must wait some five seconds longer.
STOP_GRACE_S = env_int("STOP_GRACE_S", 2)
# Seconds between two writes of a growing text to its row.
FLUSH_S = 0.4
# Days after its last use that a session's snapshots are kept; then its files are not rolled back.
SNAPSHOT_DAYS = env_int("SNAPSHOT_DAYS", 30)
# Days that every audit log is kept at least, whatever a team or an operator chooses.
AUDIT_MIN_DAYS = env_int("AUDIT_MIN_DAYS", 30)
# Whether a small model names a session after its first turn; else its first line does.
TITLES = env_bool("TITLES", True)
# Settings of the whole server in the shape of an opencode.json, below those of every team: the path
# of a file. Without it opencode.json in the data folder, if there is one.
INSTANCE_CONFIG = env("INSTANCE_CONFIG").strip()
# Permission rules of the whole server, which no team can loosen: the path of a JSON file, or JSON.
PERMISSION_RULES = env("PERMISSION_RULES")
# Runs shell commands without bubblewrap: every command then has the server's own rights.
UNSAFE_SANDBOX = env_bool("UNSAFE_SANDBOX")
# The most that a team may let commands in the sandbox reach: none, allow-list (hosts that the team
# lists, by a proxy of this server) or open (this host's own network, loopback services included).
SANDBOX_NETWORK = env("SANDBOX_NETWORK", "allow-list").strip().lower()
SANDBOX_NETWORK = {"0": "none", "1": "open"}.get(SANDBOX_NETWORK, SANDBOX_NETWORK)
# Hosts that no list of a team gets past: github.com, *.example.org, host:port; none for no bound.
SANDBOX_HOSTS = env_list("SANDBOX_HOSTS")
# What one command, with all that it starts, may use: MB of memory, processes and threads, seconds
# of processor time, MB of one file, MB in the home and /tmp of its session.
SANDBOX_MEMORY_MB = env_int("SANDBOX_MEMORY_MB", 4096)
SANDBOX_PROCESSES = env_int("SANDBOX_PROCESSES", 1024)
SANDBOX_CPU_S = env_int("SANDBOX_CPU_S", 3600)
SANDBOX_FILE_MB = env_int("SANDBOX_FILE_MB", 4096)
SANDBOX_HOME_MB = env_int("SANDBOX_HOME_MB", 4096)
# A cgroup v2 of this user, for the kernel to keep the first two limits; else they are watched.
SANDBOX_CGROUP = Path(env("SANDBOX_CGROUP")) if env("SANDBOX_CGROUP") else None
# Language servers that a worker runs at the same time; 0 for none.
LANGUAGE_SERVERS = env_int("LANGUAGE_SERVERS", 8)
# MCP servers that a worker keeps running between calls; 0 for none. Seconds without use until one
# of them ends.
MCP_SERVERS = env_int("MCP_SERVERS", 16)
MCP_IDLE_S = env_int("MCP_IDLE_S", 300)
# A file of MCP servers that admins can choose from; empty for the one that comes along.
MCP_CATALOG = env("MCP_CATALOG")
# MB that commands have to leave free on the disks they write to.
SANDBOX_FREE_DISK_MB = env_int("SANDBOX_FREE_DISK_MB", 512)
# Turns and commands of one team that may run at the same time on all workers; 0 for any number.
# Operators can set others for a team, also of the terminals below.
TURNS_PER_TEAM = env_int("TURNS_PER_TEAM", 0)
COMMANDS_PER_TEAM = env_int("COMMANDS_PER_TEAM", 0)
# MB that the files of a team's projects may take up before it has to remove some; 0 for any number.
DISK_PER_TEAM_MB = env_int("DISK_PER_TEAM_MB", 0)
# Terminals that one person may have open, 0 for none, and all people of a team together; hours
# until one that nobody types into is ended.
TERMINALS_PER_PERSON = env_int("TERMINALS_PER_PERSON", 8)
TERMINALS_PER_TEAM = env_int("TERMINALS_PER_TEAM", 40)
TERMINAL_IDLE_H = env_int("TERMINAL_IDLE_H", 12)
# A Python function, as `package.module.function`, that adds to the environment of a terminal. It
# gets an `opencode_web.plugin.TerminalLocation` and returns a mapping of names to values.
TERMINAL_ENVIRONMENT = env("TERMINAL_ENVIRONMENT")
# Apps in terminals are previewed at hosts below this one, such as preview.example.org[:8443].
# Without it only where people visit the server at localhost, at hosts below localhost.
PREVIEW_HOST = env("PREVIEW_HOST").strip().lower()
PREVIEW_COOKIE_NAME = "opencode-preview"
# Who may create teams: operators or everyone. A team can add projects and run commands.
TEAM_CREATION = env("TEAM_CREATION", "operators").strip().lower()
# Private and loopback addresses that outgoing connections may reach, as host[:port] or CIDR[:port].
ALLOWED_PRIVATE_ADDRESSES = env_list("ALLOWED_PRIVATE_ADDRESSES")
# Replaced by the above; a system check names those that are still set.
REMOVED_SETTINGS = sorted(
    name
    for name in os.environ
    if re.fullmatch("(PROVIDERS|WEBFETCH|MCP|WEBHOOKS|GIT|SANDBOX)_ALLOW_PRIVATE", name)
)
# Where the audit log of all teams and of the server is sent: a webhook (https://…), or syslog by
# syslog://host:port (TCP), syslog+tls://host:port or syslog+udp://host:port.
AUDIT_STREAM_URL = env("AUDIT_STREAM_URL").strip()
# Signs what is sent to a webhook: whsec_ and the Base64 of 24 to 64 random bytes.
AUDIT_STREAM_SECRET = env_secret("AUDIT_STREAM_SECRET")
# Whether teams may allow links to sessions that open without signing in.
PUBLIC_SHARES = env_bool("PUBLIC_SHARES", True)
# Seconds a clone may take.
CLONE_TIMEOUT_S = env_int("CLONE_TIMEOUT_S", 1800)
# Private key with which projects are cloned over SSH. Without it only public access is tried.
GIT_SSH_KEY = env("GIT_SSH_KEY")
# Whether file:// may be cloned: only for tests, it would let a team read other teams' folders.
GIT_ALLOW_FILE = env_bool("GIT_ALLOW_FILE")
# Seconds between two chunks of a model's answer before the stream counts as cut.
PROVIDER_CHUNK_TIMEOUT_S = env_int("PROVIDER_CHUNK_TIMEOUT_S", 300)
# The OAuth application of GitLab Duo, registered at this GitLab with the redirect address
# <PUBLIC_URL>/sign-in/return. Without one people paste a personal access token.
GITLAB_OAUTH_CLIENT_ID = env("GITLAB_OAUTH_CLIENT_ID")
GITLAB_INSTANCE_URL = env("GITLAB_INSTANCE_URL", "https://gitlab.com").strip().rstrip("/")
PROVIDER_TRANSPORT = "providers.transport.Pool"  # tests play vendors by another one
LINEAR_API = "https://api.linear.app"  # tests play it, too
# Where a newer model catalog comes from (models.dev's api.json), and how often it is asked for.
MODELS_URL, MODELS_REFRESH_HOURS = env("MODELS_URL"), env_int("MODELS_REFRESH_HOURS", 24)

# ---- Logging, metrics, traces --------------------------------------------------------------------
# Whoever has this token may read /metrics, besides the operators.
METRICS_TOKEN = env_secret("METRICS_TOKEN")
# First of the ports on which workers serve their metrics; 0 for none.
METRICS_PORT = env_int("METRICS_PORT", 0)
METRICS_HOST = env("METRICS_HOST", "127.0.0.1")
# The exporter reads the rest of its variables (OTEL_…) itself.
TRACING = bool(env("OTEL_EXPORTER_OTLP_ENDPOINT"))
LOGGING = logging_config(
    as_json=env("LOG_FORMAT", "line") == "json",
    level=env("LOG_LEVEL", "WARNING"),
    access_level=env("ACCESS_LOG_LEVEL", "WARNING"),
)

# ---- Plugins -------------------------------------------------------------------------------------
# Packages with an entry point in `opencode_web.plugins` that are loaded, by the names of these: all
# with *, none with nothing; one with a - before its name is left out.
PLUGINS = env_list("PLUGINS", "*")
# The npm registry that teams add plugins for OpenCode from; without one they cannot.
NPM_REGISTRY = env("NPM_REGISTRY").strip()

# ---- Variables that settings of teams may name --------------------------------------------------
# Any admin of any team can send these anywhere. At the end, since the server's own are left out.
CONFIG_ENV = env_list("CONFIG_ENV")
CONFIG_VALUES = {name: os.environ.get(name, "") for name in CONFIG_ENV if name not in _own}
