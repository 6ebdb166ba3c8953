"""The genuine program's requests to every vendor, recorded, against those of this server."""

from __future__ import annotations
