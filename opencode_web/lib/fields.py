"""Model fields of our own."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class OrderedJSONField(models.JSONField):
    """JSON that comes back with its keys in the order in which they were written.

    PostgreSQL's jsonb sorts them, and of permission rules the last match wins. Stored as text, so
    it must not be looked into by queries.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return models.TextField().db_type(connection)

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> str | None:  # Any: whatever JSON can hold
        return None if value is None else json.dumps(value)

    def from_db_value(
        self, value: str | None, expression: object, connection: BaseDatabaseWrapper
    ) -> Any:  # as above
        return None if value is None else json.loads(value)
