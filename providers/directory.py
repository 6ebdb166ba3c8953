"""The list from which somebody chooses a provider to connect."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from providers.account_settings import account_settings
from providers.catalog import KnownProvider, known_providers, unusable_providers
from providers.llm.sign_in import methods_of

# What most people look for, in this order, and what it is.
_POPULAR = {
    "anthropic": gettext_noop("Claude models"),
    "openai": gettext_noop("GPT models, with an API key or a ChatGPT plan"),
    "google": gettext_noop("Gemini models"),
    "github-copilot": gettext_noop("Models of several vendors, with a Copilot plan"),
    "openrouter": gettext_noop("Models of many vendors, with one key"),
    "amazon-bedrock": gettext_noop("Models of several vendors in your AWS account"),
    "azure": gettext_noop("OpenAI models and others in your Azure account"),
    "google-vertex": gettext_noop("Gemini models in your Google Cloud project"),
    "google-vertex-anthropic": gettext_noop("Claude models in your Google Cloud project"),
    "opencode": gettext_noop("Models tested for coding by the OpenCode team"),
    "xai": gettext_noop("Grok models, with an API key or a SuperGrok plan"),
    "mistral": gettext_noop("Mistral, Devstral and Codestral models"),
    "deepseek": gettext_noop("DeepSeek models"),
    "groq": gettext_noop("Open models with fast responses"),
}


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A provider as the list shows it. With a `reason` it cannot be chosen."""

    id: str
    name: str
    text: str
    ways: tuple[str, ...] = ()
    reason: str = ""
    is_set_up: bool = False

    def matches(self, words: Collection[str]) -> bool:
        """Whether each of the words, in lower case, is in it."""
        text = f"{self.name} {self.id} {self.text}".lower()
        return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Directory:
    """All providers of the catalog that match a search."""

    popular: list[ProviderEntry]
    others: list[ProviderEntry]
    unusable: list[ProviderEntry]

    def __bool__(self) -> bool:
        return bool(self.popular or self.others or self.unusable)


def load_directory(
    query: str = "", *, set_up: Collection[str] = (), takes_address: bool = True
) -> Directory:
    """List the providers of the catalog. `set_up`: ids of those that the holder has.

    `takes_address`: whether the holder may say which host is asked.
    """
    words = query.lower().split()
    known = known_providers()
    closed = [] if takes_address else [one for one in known if _names_host(one)]
    usable = [_entry(one, one.id in set_up) for one in known if one not in closed]
    places = {key: place for place, key in enumerate(_POPULAR)}
    found = [one for one in usable if one.matches(words)]
    unusable = [
        *(
            ProviderEntry(one.id, one.name, "", reason=_("Needs a custom address. Ask an admin."))
            for one in closed
        ),
        *(ProviderEntry(one.id, one.name, "", reason=one.reason) for one in unusable_providers()),
    ]
    return Directory(
        popular=sorted((one for one in found if one.id in places), key=lambda one: places[one.id]),
        others=[one for one in found if one.id not in places],
        unusable=[one for one in unusable if one.matches(words)],
    )


def _entry(known: KnownProvider, is_set_up: bool) -> ProviderEntry:
    text = _(_POPULAR[known.id]) if known.id in _POPULAR else urlsplit(known.doc).netloc
    return ProviderEntry(known.id, known.name, text, ways_of(known), is_set_up=is_set_up)


def _names_host(known: KnownProvider) -> bool:
    account = account_settings(known.id, known.npm)
    return account is not None and account.names_host


def ways_of(known: KnownProvider) -> tuple[str, ...]:
    """Returns: how a provider can be connected, in words."""
    signs_in = any(method.kind != "key" for method in methods_of(known.id))
    plain = _("Cloud account") if account_settings(known.id, known.npm) else _("API key")
    return (plain, *([pgettext("way to connect", "Sign-in")] if signs_in else ()))
