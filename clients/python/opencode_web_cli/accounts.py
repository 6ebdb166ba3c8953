"""The account of a model's provider, as the variables of a CI job have it.

Variables are named as in the catalog. The server gets what they hold over its API, so that what an
agent runs does not find it in its environment.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from opencode_web_cli.connection import Connection
from opencode_web_cli.failures import Code, Failure

# What is called otherwise by `provider.<id>.options`, or by the sign-in of a provider.
_OPTIONS = {
    "AWS_REGION": "region",
    "AWS_ACCESS_KEY_ID": "accessKeyId",
    "AWS_SECRET_ACCESS_KEY": "secretAccessKey",
    "AWS_SESSION_TOKEN": "sessionToken",
    "AZURE_RESOURCE_NAME": "resourceName",
    "AZURE_COGNITIVE_SERVICES_RESOURCE_NAME": "resourceName",
    "CLOUDFLARE_ACCOUNT_ID": "accountId",
    "CLOUDFLARE_GATEWAY_ID": "gatewayId",
    "GOOGLE_VERTEX_PROJECT": "project",
    "GOOGLE_VERTEX_LOCATION": "location",
    "GOOGLE_APPLICATION_CREDENTIALS": "serviceAccount",
    "SNOWFLAKE_ACCOUNT": "account",
    "WATSONX_AI_PROJECT_ID": "project",
}
# Together they stand in place of a key.
_SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS")
# Only temporary ones have it.
_OPTIONAL = {"AWS_ACCESS_KEY_ID": "AWS_SESSION_TOKEN"}
_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
_KEY = re.compile(r"(?:KEY|TOKEN|PAT)(?:_BEDROCK)?$")


@dataclass(frozen=True)
class Account:
    """The variables of a provider: each of `keys` is enough, of `secrets` and `places` all count.

    With neither keys nor secrets it needs none.
    """

    provider: str
    keys: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """The variables that prove who asks: the first key that is set, or else the secrets."""
        key = next((name for name in self.keys if os.environ.get(name)), None)
        return (key,) if key else tuple(name for name in self.secrets if os.environ.get(name))

    def require(self) -> None:
        """Raises: Failure that names what is not set."""
        found, told = self.used, []
        if not found and (self.keys or self.secrets):
            ways = [*self.keys[:1], *filter(None, [" and ".join(self.secrets)])]
            told.append(f"No key of {self.provider}: set {', or '.join(ways)} in the environment.")
        elif not set(found) & set(self.keys) and set(found) != set(self.secrets):
            told.append(f"{self.provider} needs {_both(self.secrets)}")
        if names := [name for name in self.places if not os.environ.get(name)]:
            told.append(f"{'It also' if told else self.provider} needs {_both(names)}")
        if told:
            raise Failure(" ".join(told), Code.USAGE)

    def give(self, connection: Connection) -> None:
        """Set up what is in the environment at a server. Raises: Failure."""
        used = self.used
        if not used:
            return
        places = {_option(name): os.environ[name] for name in self.places if os.environ.get(name)}
        if used[0] in self.keys:
            body = {"type": "api", "key": os.environ[used[0]], "metadata": places}
            connection.call("PUT", f"/auth/{self.provider}", body=body)
            return
        more = [_OPTIONAL[name] for name in used if os.environ.get(_OPTIONAL.get(name, ""))]
        secrets = {_option(name): _value(name) for name in (*used, *more)}
        block = {"provider": {self.provider: {"options": {**places, **secrets}}}}
        connection.call("PATCH", "/config", body=block)


def account_in_catalog(provider: str) -> Account:
    """Returns: a provider's account as in the catalog that the server is installed with, whose
    first line lists the providers; one that needs nothing for others."""
    parents = Path(__file__).resolve().parents
    for folder in (parents[1], parents[3]):  # of an installation, and of a checkout
        catalog = folder / "providers" / "catalog.jsonl.gz"
        if catalog.is_file():
            with gzip.open(catalog, "rt", encoding="utf-8") as lines:
                listed = json.loads(next(lines))["providers"]
            return _account(provider, next((o["env"] for o in listed if o["id"] == provider), []))
    return Account(provider)


def give_account(connection: Connection, provider: str) -> Account:
    """Set up the model's provider at a server. Raises: Failure."""
    said: dict[str, Any] = connection.call("GET", "/provider")
    names = next((one["env"] for one in said["all"] if one["id"] == provider), None)
    if names is None:
        near = get_close_matches(provider, [one["id"] for one in said["all"]], 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise Failure(f"The server knows no provider {provider!r}.{hint}", Code.USAGE)
    account = _account(provider, names)
    if provider not in said["connected"]:
        account.require()
    account.give(connection)
    return account


def _account(provider: str, names: Sequence[str]) -> Account:
    secrets = tuple(name for name in names if name in _SECRETS)
    rest = [name for name in names if name not in secrets]
    keys = tuple(name for name in rest if _KEY.search(name))
    # The address of a program beside the agent has a default.
    places = (name for name in rest if name not in keys and not name.endswith("_ENDPOINT"))
    return Account(provider, keys, secrets, tuple(places))


def _both(names: Sequence[str]) -> str:
    return f"{' and '.join(names)}: set {'both' if names[1:] else 'it'} in the environment."


def _option(variable: str) -> str:
    return _OPTIONS.get(variable) or variable.replace("_", "")


def _value(variable: str) -> str:
    if variable != _FILE:
        return os.environ[variable]
    try:
        return Path(os.environ[variable]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        why = getattr(exc, "strerror", None) or "it is no text"
        told = f"{variable} names a file that cannot be read: {why}"
        raise Failure(told, Code.USAGE) from exc
