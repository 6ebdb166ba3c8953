"""How dates read, by language; the names are Django's, and templates use them with `date`."""

from __future__ import annotations
