"""An admin's browser between a project's page and GitHub, where Apps are made and installed."""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

from tests.sessions.forges.github_apps import Installed, PlayedApp, PlayedApps
from tests.sessions.integrations.conftest import REPOSITORY, Forge


@dataclass
class Hub:
    """An admin's browser, which goes between the page and GitHub."""

    outside: Forge
    browser: Client = field(default_factory=Client)

    @property
    def apps(self) -> PlayedApps:
        return self.outside.server.apps

    @property
    def url(self) -> str:
        return f"/t/acme/p/{self.outside.project.pk}/integration/app"

    @property
    def page(self) -> str:
        return html.unescape(self.browser.get(self.url).content.decode())

    def forms(self) -> list[tuple[str, str]]:
        """Returns: where those lead that make an app, and their manifests."""
        found = re.findall(
            r'action="(https?:[^"]+)"><input type="hidden" name="manifest" value="([^"]+)"',
            self.browser.get(self.url).content.decode(),
        )
        return [(html.unescape(action), html.unescape(manifest)) for action, manifest in found]

    def register(self) -> str:
        """Returns: the address that GitHub sends the browser back to."""
        action, manifest = self.forms()[0]
        code, back = self.apps.register(action, manifest)
        [state] = parse_qs(urlsplit(action).query)["state"]
        return f"{urlsplit(back).path}?{urlencode({'code': code, 'state': state})}"

    def create(self) -> PlayedApp:
        answered = self.browser.get(self.register())
        assert answered["Location"] == self.url
        return max(self.apps.apps.values(), key=lambda one: one.number)

    def back(self, number: int = 1) -> str:
        """Returns: as `register`, after an installation."""
        [link] = re.findall(r'href="([^"]+/installations/new[^"]+)"', self.page)
        [state] = parse_qs(urlsplit(link).query)["state"]
        more = {"installation_id": number, "setup_action": "install", "state": state}
        return f"{self.url}/installed?{urlencode(more)}"

    def install(self, app: PlayedApp, *repositories: str, **changed: str) -> Installed:
        made = self.apps.install(app, *repositories or (REPOSITORY,), **changed)
        self.browser.get(self.back(made.number))
        return made

    def deliver(self, app: PlayedApp, event: str, sent: dict[str, Any], **changed: str) -> Any:
        body = json.dumps(sent).encode()
        secret = app.webhook_secret.encode()
        signature = f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
        headers = {"X-GitHub-Event": event, "X-Hub-Signature-256": signature, **changed}
        address = urlsplit(app.manifest["hook_attributes"]["url"]).path
        return Client().post(address, body, content_type="application/json", headers=headers)
