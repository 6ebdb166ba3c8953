"""A row of every model of ours, made from what its fields are."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db import models
from django.utils import timezone

# References that may be empty, but that a constraint wants.
_WANTED = {
    "Integration": {"project"},
    "LegalHold": {"team"},
    "Notification": {"session"},
    "ProjectMember": {"membership"},
    "SavedRule": {"project"},
}
# What the database fills in.
_GIVEN = {"AuditEntry": {"seq"}}
OURS = ("agent_sessions", "providers", "teams")


def fill(found: Any = apps, *, text: str = "x") -> dict[type[models.Model], models.Model]:
    """Make a row of every model of some apps, those of a migration included.

    Fields that may be empty are filled too, but for references. Returns: the rows.
    """
    made: dict[type[models.Model], models.Model] = {}
    for label in OURS:
        for model in found.get_app_config(label).get_models():
            _row(model, made, text)
    return made


def _row(model: Any, made: dict[Any, models.Model], text: str) -> models.Model:
    if model not in made:
        values: dict[str, Any] = {}
        for one in model._meta.concrete_fields:
            if isinstance(one, models.ForeignKey):
                wanted = not one.null or one.name in _WANTED.get(model.__name__, ())
                if wanted and one.related_model is not model:
                    values[one.name] = _row(one.related_model, made, text)
            elif not isinstance(one, models.AutoField | models.BigAutoField) and (
                one.name not in _GIVEN.get(model.__name__, ())
            ):
                values[one.name] = _value(one, text)
        made[model] = model.objects.create(**values)
    return made[model]


def _value(one: Any, text: str) -> Any:
    if one.has_default():
        return one.get_default()
    if one.choices:
        return next(value for value, _ in one.flatchoices if value or one.blank)
    for kinds, value in _VALUES:
        if isinstance(one, kinds):
            return value
    assert isinstance(one, models.CharField | models.TextField), one
    return text[: one.max_length]


_VALUES: tuple[tuple[Any, Any], ...] = (
    (models.DateTimeField, timezone.now() + timedelta(days=1)),
    (models.DateField, timezone.now().date()),
    (models.BooleanField, False),
    (models.IntegerField, 1),
    (models.FloatField, 1.0),
    (models.DecimalField, Decimal(1)),
    (models.JSONField, {}),
    (models.EmailField, "someone@example.com"),
    (models.GenericIPAddressField, "127.0.0.1"),
)
