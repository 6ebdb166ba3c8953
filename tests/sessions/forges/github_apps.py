"""GitHub's side of Apps: manifests, keys, installations and tokens, as its documentation has it.

Source: https://docs.github.com/en/rest/apps/apps
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

Json = dict[str, Any]
Said = tuple[int, Any]
_CODE_S, _TOKEN_S, _JWT_S = 3600, 3600, 600
_NEEDED = ({"name", "url", "hook_attributes", "redirect_url", "setup_url"}, {"public"})
_LEVELS = ["read", "write", "admin"]
# What a path below a repository takes; the first that begins it counts.
_AREAS = {
    "issues/": {"issues", "pull_requests"},
    "pulls": {"pull_requests"},
    "check-runs": {"checks"},
    "commits/": {"checks"},
    "statuses/": {"statuses"},
}
_NOT_FOUND = 404, {"message": "Not Found"}
_NOT_ACCESSIBLE = 403, {"message": "Resource not accessible by integration"}


@cache
def key(name: str) -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def pem(name: str) -> str:
    raw = key(name).private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return raw.decode()


@dataclass
class PlayedApp:
    number: int
    manifest: Json
    page: str
    # Its key, by name.
    key: str = "first"
    is_deleted: bool = False

    @property
    def webhook_secret(self) -> str:
        return f"hook-secret-{self.number}"

    def wire(self) -> Json:
        return {
            "id": self.number,
            "slug": self.page.rpartition("/")[2],
            "name": self.manifest["name"],
            "html_url": self.page,
            "client_id": f"Iv1.{self.number:016d}",
            "client_secret": "client-secret-of-it",
            "webhook_secret": self.webhook_secret,
            "pem": pem(self.key),
        }


@dataclass
class Installed:
    number: int
    app: PlayedApp
    repositories: set[str]
    permissions: dict[str, str]
    is_suspended: bool = False


@dataclass
class Issued:
    token: str
    installation: Installed
    repositories: set[str]
    permissions: dict[str, str]
    until: float


@dataclass
class PlayedApps:
    # What this clock is ahead of everybody's.
    ahead_s: float = 0
    apps: dict[int, PlayedApp] = field(default_factory=dict)
    codes: dict[str, tuple[PlayedApp, float]] = field(default_factory=dict)
    installations: dict[int, Installed] = field(default_factory=dict)
    issued: list[Issued] = field(default_factory=list)
    claims: list[Json] = field(default_factory=list)

    @property
    def now(self) -> float:
        return time.time() + self.ahead_s

    def register(self, action: str, manifest: str) -> tuple[str, str]:
        """Somebody sends the form and confirms. Returns: the code and where it is sent to."""
        said: Json = json.loads(manifest)
        assert set(said) >= _NEEDED[0] | _NEEDED[1], said
        assert len(said["name"]) <= 34
        assert set(said["default_permissions"].values()) <= {"read", "write"}
        # Sent to every app; nobody can ask for them.
        assert not {"installation", "installation_repositories"} & set(said["default_events"])
        parts = urlsplit(action)
        assert parts.path.endswith("settings/apps/new")
        number = 4_000_000_000 + len(self.apps)
        slug = said["name"].lower().replace(" ", "-")
        made = PlayedApp(number, said, f"{parts.scheme}://{parts.netloc}/apps/{slug}")
        self.apps[number] = made
        code = f"code{number}"
        self.codes[code] = made, self.now
        return code, said["redirect_url"]

    def install(self, app: PlayedApp, *repositories: str, **changed: str) -> Installed:
        permissions = {**app.manifest["default_permissions"], **changed}
        number = 90_000_000 + len(self.installations)
        made = Installed(number, app, {one.lower() for one in repositories}, permissions)
        self.installations[number] = made
        return made

    def answer(self, method: str, path: str, token: str, body: Json) -> Said | None:
        """`path` is below the API's root. Returns: None for what is no app's."""
        names = path.strip("/").split("/")
        match method, *names:
            case "POST", "app-manifests", code, "conversions":
                return self._convert(code)
            case "GET", "repos", owner, name, "installation":
                return self._as_app(token, lambda app: self._of(app, f"{owner}/{name}"))
            case "GET", "app", "installations", number:
                return self._as_app(token, lambda app: self._known(app, int(number)))
            case "POST", "app", "installations", number, "access_tokens":
                return self._as_app(token, lambda app: self._issue(app, int(number), body))
        return None

    def refusal(self, method: str, path: str, token: str) -> Said | None:
        """Returns: why an installation's token may not ask this; None where it may."""
        found = next((one for one in self.issued if one.token == token), None)
        if found is None or found.until <= self.now or found.installation.is_suspended:
            return 401, {"message": "Bad credentials"}
        root, *rest = path.strip("/").split("/", 3)
        if root != "repos":
            return _NOT_ACCESSIBLE
        if "/".join(rest[:2]).lower() not in found.repositories & found.installation.repositories:
            return _NOT_FOUND
        below = rest[2] if len(rest) > 2 else ""
        areas = next((names for at, names in _AREAS.items() if below.startswith(at)), {"metadata"})
        need = _LEVELS.index("read" if method == "GET" else "write")
        levels = [found.permissions[name] for name in areas if name in found.permissions]
        return None if any(_LEVELS.index(one) >= need for one in levels) else _NOT_ACCESSIBLE

    def _convert(self, code: str) -> Said:
        app, made_at = self.codes.pop(code, (None, 0.0))
        if app is None or made_at + _CODE_S < self.now:
            return _NOT_FOUND
        return 201, app.wire()

    def _as_app(self, token: str, then: Any) -> Said:
        try:
            number = int(jwt.decode(token, options={"verify_signature": False})["iss"])
            app = self.apps[number]
            public = key(app.key).public_key()
            needed = {"require": ["iat", "exp", "iss"], "verify_exp": False, "verify_iat": False}
            claims = jwt.decode(token, public, algorithms=["RS256"], options=needed)
        except (jwt.PyJWTError, ValueError, KeyError):
            return 401, {"message": "A JSON web token could not be decoded"}
        self.claims.append(claims)
        if claims["iat"] > self.now or claims["exp"] <= self.now:
            return 401, {"message": "'Issued at' claim ('iat') or 'exp' is not in its window"}
        if claims["exp"] > self.now + _JWT_S:
            return 401, {"message": "'Expiration time' claim ('exp') is too far in the future"}
        if app.is_deleted:
            return 404, {"message": "Integration not found"}
        said: Said = then(app)
        return said

    def _of(self, app: PlayedApp, repository: str) -> Said:
        for one in self.installations.values():
            if one.app is app and repository.lower() in one.repositories:
                return self._known(app, one.number)
        return _NOT_FOUND

    def _known(self, app: PlayedApp, number: int) -> Said:
        found = self.installations.get(number)
        if found is None or found.app is not app:
            return _NOT_FOUND
        suspended = "2026-11-28T10:00:00Z" if found.is_suspended else None
        return 200, {
            "id": number,
            "app_id": app.number,
            "permissions": found.permissions,
            "repository_selection": "selected",
            "suspended_at": suspended,
        }

    def _issue(self, app: PlayedApp, number: int, body: Json) -> Said:
        found = self.installations.get(number)
        if found is None or found.app is not app:
            return _NOT_FOUND
        if found.is_suspended:
            return 403, {"message": "This installation has been suspended"}
        names = {one.rpartition("/")[2]: one for one in found.repositories}
        wanted = body.get("repositories", list(names))
        if not set(wanted) <= set(names):
            said = "There is at least one repository that does not exist or is not accessible"
            return 422, {"message": f"{said} to the parent installation."}
        permissions = body.get("permissions", found.permissions)
        for name, level in permissions.items():
            given = found.permissions.get(name, "")
            if given not in _LEVELS or _LEVELS.index(given) < _LEVELS.index(level):
                said = "The permissions requested are not granted to this installation."
                return 422, {"message": said}
        token = f"ghs_{len(self.issued):036d}"
        until = int(self.now) + _TOKEN_S
        repositories = {names[one] for one in wanted}
        self.issued.append(Issued(token, found, repositories, dict(permissions), until))
        expires = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return 201, {"token": token, "expires_at": expires, "permissions": permissions}
