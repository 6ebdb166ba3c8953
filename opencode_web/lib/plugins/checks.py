"""What `manage.py check` and the doctor say of packages: warnings, as none stops the server."""

from __future__ import annotations

from collections.abc import Sequence

from django.core import checks

from opencode_web.lib.plugins.loading import ALL, installed_plugins


def check_plugins(allowed: Sequence[str]) -> list[checks.CheckMessage]:
    """Returns: why packages are not loaded, and which of those that are allowed there are not."""
    plugins = installed_plugins()
    known = {ALL, *(plugin.name for plugin in plugins)}
    return [
        *(
            checks.Warning(
                f"The plugin {plugin.name} {plugin.version} is not loaded: "
                f"{plugin.failed.removesuffix('.')}.",
                hint="Mend or uninstall its package, or leave it out of PLUGINS, and restart.",
                id="opencode_web.W026",
            )
            for plugin in plugins
            if plugin.failed
        ),
        *(
            checks.Warning(
                f"PLUGINS lists {name}, which is not installed.",
                hint="Install its package where the server is, or remove it from PLUGINS.",
                id="opencode_web.W027",
            )
            for name in allowed
            if name.removeprefix("-") not in known
        ),
    ]
