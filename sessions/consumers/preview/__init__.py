"""Previews at their own hosts: everything that a browser asks them for.

`hosts` picks their requests out. `app` finds out whose a request is (`admission`) and passes it on:
`forward` for HTTP, `upgrade` for websockets, both through `connections`. What the app says is
passed on as it comes, with its `headers` changed so that it works at another host than the one it
knows, and nowhere else; pages get our script (`inject`), by which people show an element or a
picture of the page to the agent.
"""

from __future__ import annotations

from sessions.consumers.preview.hosts import PreviewHosts

__all__ = ["PreviewHosts"]
