"""The Slack app that an admin makes for this server, as Slack's page for new apps reads it.

Source: https://docs.slack.dev/reference/app-manifest/
"""

from __future__ import annotations

import json

from opencode_web.lib.json import JsonObject, JsonValue

_SCOPES: list[JsonValue] = [
    *("app_mentions:read", "chat:write", "commands", "files:read", "files:write", "im:history"),
    *("links:read", "links:write", "users:read", "channels:read", "groups:read"),
    # An answer that may have been written is looked for before it is written again.
    *("channels:history", "groups:history"),
]
_EVENTS: list[JsonValue] = ["app_home_opened", "app_mention", "link_shared", "message.im"]


def build_manifest(address: str, host: str) -> str:
    """`address` is where Slack sends to, empty for Socket Mode; `host` the one of this server."""
    to: JsonObject = {"url": address} if address else {}
    asked: JsonObject = {"request_url": address} if address else {}
    manifest: JsonObject = {
        "display_information": {
            "name": "OpenCode",
            "description": "Ask coding agents, and answer what they ask.",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "OpenCode", "always_online": True},
            "slash_commands": [
                {
                    "command": "/opencode",
                    "description": "Ask the agent, or link your account",
                    "usage_hint": "<prompt> | link CODE | help",
                    **to,
                },
                {
                    "command": "/opencode-sessions",
                    "description": "List, reattach and stop sessions",
                    **to,
                },
            ],
            "unfurl_domains": [host] if host else [],
        },
        "oauth_config": {"scopes": {"bot": _SCOPES}},
        "settings": {
            "event_subscriptions": {"bot_events": _EVENTS, **asked},
            "interactivity": {"is_enabled": True, **asked},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not address,
            "token_rotation_enabled": False,
        },
    }
    return json.dumps(manifest, indent=2)
