"""Settings → Models: the providers of a team, their keys and their models."""

from __future__ import annotations
