from __future__ import annotations

from typing import Self, TypeVar

from django.db import models

_Row = TypeVar("_Row", bound=models.Model, covariant=True)


class RequestQuerySet(models.QuerySet[_Row]):
    """What agents ask people: permissions and questions."""

    def pending(self) -> Self:
        """What still waits for an answer, the oldest first."""
        return self.filter(status="pending").order_by("created_at", "pk")
