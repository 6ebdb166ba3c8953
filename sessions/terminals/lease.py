from __future__ import annotations

from datetime import timedelta

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

# A worker that dies ends its terminals with it; so long does a row say that they run.
LEASE_S = 12.0
RENEW_S = 2.0


def until(seconds: float) -> ExpressionWrapper[Combinable]:
    """So long from now, by the clock of the database."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
