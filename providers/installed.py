"""What plugins that operators have installed add to the model layer."""

from __future__ import annotations

from typing import cast

from opencode_web.lib.plugins.loading import Plugin, installed_plugins
from opencode_web.lib.plugins.values import PluginProvider
from providers.llm import has_adapter, register
from providers.llm.route import Adapter
from providers.llm.sign_in import SignIn, register_sign_in


def register_installed() -> None:
    """Have their providers called and signed in to. A plugin whose provider cannot be is given
    up."""
    for plugin in installed_plugins():
        for provider in plugin.providers:
            if not plugin.failed:
                _register(plugin, provider)


def _register(plugin: Plugin, provider: PluginProvider) -> None:
    npm, sign_in = str(provider.description["npm"]), provider.sign_in
    if sign_in is not None:
        if not isinstance(sign_in, SignIn) or sign_in.provider_id != provider.id:
            plugin.fail(f"providers: the sign-in of {provider.id} is none, or another provider's.")
            return
        register_sign_in(sign_in)
    if provider.adapter is not None:
        # Those of others with the same package are called as before.
        only = provider.id if has_adapter(npm) else ""
        register(npm, cast("Adapter", provider.adapter), provider_id=only)
    elif not has_adapter(npm):
        plugin.fail(f"providers: {provider.id} has no adapter, and {npm} is not known here.")
