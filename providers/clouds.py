"""What the account of a cloud has beside a key: where it is, and the secrets that prove who asks.

The names are those of `provider.<id>.options` in the settings, and those that adapters read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from opencode_web.lib.errors import Invalid
from providers.llm.adapters.azure import BAD_RESOURCE, RESOURCE_NAME
from providers.llm.adapters.bedrock import BAD_REGION, REGION
from providers.llm.adapters.cloudflare import ACCOUNT, BAD_ACCOUNT, BAD_GATEWAY, GATEWAY
from providers.llm.adapters.vertex import LOCATION, PROJECT
from providers.llm.sign_in.clouds.entra import BAD_TENANT
from providers.llm.sign_in.clouds.entra import TENANT as TENANT_PATTERN

_BAD_VERSION = gettext_noop(
    "Enter an Azure API version such as 2025-04-01-preview, or v1 or preview."
)
_BAD_CLIENT = gettext_noop("Enter an application ID. It has letters, digits and hyphens.")
# Names of secrets and settings from which access tokens are made.
KEY_FILE, CLIENT_SECRET, PROFILE = "serviceAccount", "clientSecret", "profile"
TENANT, CLIENT = "tenantId", "clientId"
_BAD_PROJECT = gettext_noop(
    "Enter a project ID such as my-project-123. It has letters, digits and hyphens."
)
_BAD_LOCATION = gettext_noop(
    "Enter a Vertex AI location: global, us, eu or a region such as us-central1."
)
_AZURE_ADDRESS = re.compile(
    rf"https://({RESOURCE_NAME.pattern})\.openai\.azure\.com(?:/openai(?:/v1)?)?"
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that says where an account is. It becomes a part of the address."""

    name: str
    label: str | Promise
    help_text: str | Promise
    example: str
    pattern: re.Pattern[str]
    # What is wrong where the pattern does not fit, to be translated.
    fault: str
    is_needed: bool = True
    # Needed with the secrets of this way, and only then.
    way: str = ""


@dataclass(frozen=True, slots=True)
class SecretPart:
    """One of the secrets of an account. Those of one `way` prove together who asks."""

    name: str
    label: str | Promise
    help_text: str | Promise
    is_needed: bool = True
    way: str = ""
    # It is the identity of this server, so that only who runs it may use it.
    is_of_host: bool = False


@dataclass(frozen=True, slots=True)
class Cloud:
    """One kind of account. Those of one `id` have the same fields on the page."""

    id: str
    settings: tuple[Setting, ...]
    secrets: tuple[SecretPart, ...] = ()
    takes_key: bool = True
    # Whether whoever has the account decides which host is asked.
    names_host: bool = False

    def without_host(self) -> Cloud:
        """Returns: it for an account that is not the instance's."""
        return replace(self, secrets=tuple(one for one in self.secrets if not one.is_of_host))

    @property
    def names(self) -> tuple[str, ...]:
        """Of everything it has, in the order of the page."""
        return (*(one.name for one in self.settings), *(one.name for one in self.secrets))

    def kept(self, connection: Mapping[str, str]) -> dict[str, str]:
        """Returns: what is given of its own settings."""
        names = (one.name for one in self.settings)
        return {name: connection[name].strip() for name in names if connection.get(name)}

    def place(self, connection: Mapping[str, str]) -> dict[str, str]:
        """Returns: what decides where keys go, as far as it is given."""
        needed = {one.name for one in self.settings if one.is_needed}
        return {name: value for name, value in self.kept(connection).items() if name in needed}

    def faults(
        self, connection: Mapping[str, str], *, key: str = "", secrets: Mapping[str, str]
    ) -> dict[str, str]:
        """Returns: name -> what is wrong with it, in the reader's language."""
        kept = self.kept(connection)
        found = {
            one.name: _(one.fault)
            for one in self.settings
            if one.name in kept and not one.pattern.fullmatch(kept[one.name])
        }
        if key and not self.takes_key:
            found["key"] = _("This provider does not use an API key. Enter: {names}.").format(
                names=self._wanted()
            )
        elif key and any(secrets.values()):
            found["key"] = _("Enter either an API key or the other secrets, not both.")
        ways = {one.way for one in self.secrets if secrets.get(one.name)}
        for way in ways:
            given = {**kept, **secrets}
            parts: list[Setting | SecretPart] = [*self.settings, *self.secrets]
            needed = [one for one in parts if _belongs(one, way)]
            names = ", ".join(str(one.label) for one in needed)
            lacking = [one.name for one in needed if not given.get(one.name)]
            found |= {
                name: _("These are required together: {names}.").format(names=names)
                for name in lacking
            }
        if len(ways) > 1:
            one = next(one for one in self.secrets if secrets.get(one.name))
            found[one.name] = _("Enter only one of these: {names}.").format(
                names=self._wanted(ways)
            )
        return found

    def _wanted(self, ways: Collection[str] = ()) -> str:
        among = [one for one in self.secrets if not ways or one.way in ways]
        return ", ".join(str(one.label) for one in among if one.is_needed)


def _belongs(one: Setting | SecretPart, way: str) -> bool:
    """Whether it has to be given with the secrets of a way."""
    return one.way == way and (bool(way) if isinstance(one, Setting) else one.is_needed)


_ACCESS_TOKEN = SecretPart(
    "accessToken",
    gettext_lazy("Access token"),
    gettext_lazy("The output of gcloud auth print-access-token. It is valid for one hour."),
    way="token",
)
_KEY_FILE = SecretPart(
    KEY_FILE,
    gettext_lazy("Key file"),
    gettext_lazy(
        "The complete JSON of a service account, or of gcloud's application default "
        "credentials. Access tokens are created from it as needed."
    ),
    way="file",
)
_VERTEX = (
    Setting(
        "project",
        gettext_lazy("Project"),
        gettext_lazy("The ID of the Google Cloud project."),
        "my-project-123",
        PROJECT,
        _BAD_PROJECT,
    ),
    Setting(
        "location",
        gettext_lazy("Location"),
        gettext_lazy("Where the models run: global, us, eu or a region such as us-central1."),
        "us-central1",
        LOCATION,
        _BAD_LOCATION,
    ),
)
_CLOUDS = {
    "@ai-sdk/amazon-bedrock": Cloud(
        "bedrock",
        (
            Setting(
                "region",
                gettext_lazy("Region"),
                gettext_lazy("The AWS region where the models run, such as us-east-1."),
                "us-east-1",
                REGION,
                BAD_REGION,
            ),
        ),
        (
            SecretPart(
                "accessKeyId",
                gettext_lazy("Access key ID"),
                gettext_lazy("From AWS, such as AKIA… Not needed with a Bedrock API key."),
            ),
            SecretPart(
                "secretAccessKey",
                gettext_lazy("Secret access key"),
                gettext_lazy("The secret that belongs to the access key ID."),
            ),
            SecretPart(
                "sessionToken",
                gettext_lazy("Session token"),
                gettext_lazy("Only for temporary credentials, which start with ASIA…"),
                is_needed=False,
            ),
            SecretPart(
                PROFILE,
                gettext_lazy("Profile"),
                gettext_lazy(
                    "A profile in this server's AWS configuration. Requests use its credentials."
                ),
                way="profile",
                is_of_host=True,
            ),
        ),
    ),
    "@ai-sdk/azure": Cloud(
        "azure",
        (
            Setting(
                "resourceName",
                gettext_lazy("Resource name"),
                gettext_lazy("The first part of the address: acme in acme.openai.azure.com."),
                "acme",
                RESOURCE_NAME,
                BAD_RESOURCE,
            ),
            Setting(
                "apiVersion",
                gettext_lazy("API version"),
                gettext_lazy("Such as 2025-04-01-preview. Defaults to v1."),
                "v1",
                re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*"),
                _BAD_VERSION,
                is_needed=False,
            ),
            Setting(
                TENANT,
                gettext_lazy("Tenant"),
                gettext_lazy(
                    "The Microsoft Entra tenant, if an application is used instead of an API key."
                ),
                "contoso.onmicrosoft.com",
                TENANT_PATTERN,
                BAD_TENANT,
                is_needed=False,
                way="entra",
            ),
            Setting(
                CLIENT,
                gettext_lazy("Application ID"),
                gettext_lazy("The client ID of the application."),
                "11111111-2222-3333-4444-555555555555",
                re.compile(r"[A-Za-z0-9-]{1,100}"),
                _BAD_CLIENT,
                is_needed=False,
                way="entra",
            ),
        ),
        (
            SecretPart(
                CLIENT_SECRET,
                gettext_lazy("Client secret"),
                gettext_lazy("The client secret of the application, instead of an API key."),
                way="entra",
            ),
        ),
    ),
    "@ai-sdk/google-vertex": Cloud("vertex", _VERTEX, (_KEY_FILE, _ACCESS_TOKEN)),
    # Its adapter sends a key as a token, and Google takes no API key there.
    "@ai-sdk/google-vertex/anthropic": Cloud(
        "vertex", _VERTEX, (_KEY_FILE, _ACCESS_TOKEN), takes_key=False
    ),
    "ai-gateway-provider": Cloud(
        "cloudflare-gateway",
        (
            Setting(
                "accountId",
                gettext_lazy("Account ID"),
                gettext_lazy("Shown in the Cloudflare dashboard."),
                "0123456789abcdef0123456789abcdef",
                re.compile(ACCOUNT),
                BAD_ACCOUNT,
            ),
            Setting(
                "gatewayId",
                gettext_lazy("Gateway"),
                gettext_lazy("The name of the AI Gateway."),
                "my-gateway",
                re.compile(GATEWAY),
                BAD_GATEWAY,
            ),
        ),
    ),
    "watsonx-ai-provider": Cloud(
        "watsonx",
        (
            Setting(
                "project",
                gettext_lazy("Project ID"),
                gettext_lazy("The watsonx.ai project whose models are used."),
                "6d1e9b3a-0000-4000-8000-000000000000",
                re.compile(r"[A-Za-z0-9-]{1,100}"),
                _BAD_PROJECT,
            ),
            Setting(
                "region",
                gettext_lazy("Region"),
                gettext_lazy("Such as eu-de. Defaults to us-south."),
                "us-south",
                REGION,
                BAD_REGION,
                is_needed=False,
            ),
        ),
    ),
}


CLOUDS = tuple(_CLOUDS.values())


def cloud_of(npm: str) -> Cloud | None:
    """Returns: what accounts have that are called by this SDK package; None for a plain key."""
    return _CLOUDS.get(npm)


def checked_connection(
    cloud: Cloud | None,
    connection: Mapping[str, str],
    *,
    key: str = "",
    secrets: Mapping[str, str],
) -> dict[str, str]:
    """Returns: the settings of an account to be stored; none for what is called by a key alone.

    Raises: Invalid that says what is wrong with them, or with the keys that come with them.
    """
    if cloud is None:
        if any(connection.values()) or any(secrets.values()):
            raise Invalid(_("This provider only needs an address and a key."))
        return {}
    if faults := cloud.faults(connection, key=key, secrets=secrets):
        raise Invalid(" ".join(dict.fromkeys(faults.values())))
    return cloud.kept(connection)


def missing_settings(
    cloud: Cloud | None, connection: Mapping[str, str], base_url: str
) -> tuple[str, ...]:
    """Returns: the names of what must be set before there is an address to ask."""
    if cloud is None or base_url:
        return ()
    return tuple(
        one.name for one in cloud.settings if one.is_needed and not connection.get(one.name)
    )


def resource_of(base_url: str) -> str:
    """Returns: the Azure resource whose own address this is; "" for any other address."""
    found = _AZURE_ADDRESS.fullmatch(base_url.rstrip("/"))
    return found[1] if found else ""
