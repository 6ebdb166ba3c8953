"""Model fields of our own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


# Only the stubs of Django's fields take parameters.
if TYPE_CHECKING:
    _Text = models.TextField[str, str]
else:
    _Text = models.TextField


class EncryptedTextField(_Text):
    """What `lib.crypto.encrypt` has made, or empty. `manage.py rotate_keys` encrypts it anew."""

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:  # as Django has it
        # To the database it is a text, so no migration knows the difference.
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs
