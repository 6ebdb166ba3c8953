from __future__ import annotations

from tests.sessions.conftest import close_pool_connections

__all__ = ["close_pool_connections"]
