"""What a sign-in begins with and ends in. Values only, and secret for the most part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ..json import JsonObject
from ..secret import Secret

# Of enterprises whose data GitHub keeps in one place: it is GitHub's own.
GITHUB_DOMAIN = ".ghe.com"
GITLAB = "https://gitlab.com"
# An attempt that nobody finishes ends after this, where the provider does not say otherwise.
ATTEMPT_S = 900.0
# What a person can be asked to type, and to open.
MAX_USER_CODE_CHARS = 40
MAX_PAGE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that waits for the person.

    `state` is secret: it is stored encrypted, and handed back to `poll` or `finish`. `interval_s`
    is how long to wait before each `poll`; 0 for a method that is finished by `finish`.
    """

    url: str
    instructions: str
    state: JsonObject = field(repr=False)
    user_code: str = ""
    interval_s: float = 0.0
    expires_in_s: float = ATTEMPT_S
    redirect_uri: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """The person is not done. `state` takes the place of the one that `poll` was given."""

    interval_s: float
    state: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True)
class Grant:
    """What may be used from now on.

    `account` is what a person recognises it by; "" if unknown. `connection` and `secrets` are what
    adapters read under these names (`ResolvedModel`). `base_url` is "" where the adapter's own
    address holds. `extra` is needed to refresh or revoke it, and as secret as `refresh`.
    """

    access: Secret
    refresh: Secret | None = None
    expires_at: datetime | None = None
    account: str = ""
    connection: Mapping[str, str] = field(default_factory=dict)
    base_url: str = ""
    extra: JsonObject = field(default_factory=dict, repr=False)
    secrets: Mapping[str, Secret] = field(default_factory=dict)

    @property
    def named_host(self) -> str:
        """The host that who signed in has named, or its address; "" for one of the vendor's."""
        domain = self.connection.get("enterpriseUrl", "")
        if domain and not domain.endswith(GITHUB_DOMAIN):
            return domain
        instance = self.connection.get("instanceUrl", GITLAB)
        return instance if instance != GITLAB else ""

    @property
    def api_key(self) -> Secret:
        """What `ResolvedModel.api_key` becomes: nothing where `secrets` prove who asks."""
        return Secret("") if self.secrets else self.access

    def is_due(self, now: datetime, early_s: float) -> bool:
        """Whether it has expired, or does so within `early_s`."""
        return self.expires_at is not None and self.expires_at <= now + timedelta(seconds=early_s)
