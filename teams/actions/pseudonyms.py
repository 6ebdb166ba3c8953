"""Put a pseudonym in the place of a person's name and address, in every text of the database.

The address is replaced wherever it stands, but in rules and in addresses of repositories. So is a
name of several words, but for one in small letters: people choose what they are called, and
`rm -rf` would be anywhere. Any other name can be a word like others, or one that logs are made of,
such as `text`. It is replaced where this server has said that the person did something: in the
values of a reason, and in the sentence beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.contrib.sessions.models import Session as StoredSession
from django.db import models, transaction
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from opencode_web.lib.fields import EncryptedTextField
from opencode_web.lib.json import JsonValue
from teams.models import AuditEntry, SignedHead, User, handle_of

# Their hashes say what they were, see `erasure.erase_person_in_audit`; and what is encoded.
_APART = frozenset({AuditEntry, SignedHead, StoredSession, User})
# Rules of what agents may do, and addresses of repositories: the erasure of somebody who calls
# themselves git@github.com must not take them out of force in every team.
_RULES = "permission"
_KEPT_COLUMNS = frozenset({_RULES, "pattern", "git_url"})
# Where columns and events have sentences of this server, beside the reason with its values.
_SENTENCES = frozenset(
    {
        *("detail", "outcome_detail", "job_detail", "status_detail", "paused_reason", "problem"),
        *("message", "error"),
    }
)


@dataclass(frozen=True)
class Person:
    """Who is replaced, by what. `name` is what pages call them, and may be empty."""

    email: str
    name: str
    pseudonym: str
    new_email: str

    @property
    def mention(self) -> str:
        """How messages mention them, in any case; empty where they cannot."""
        handle = handle_of(self.name)
        return f"@{handle}" if handle else ""

    def replace_in(self, value: JsonValue) -> JsonValue:
        """Returns: a value without the person."""
        if isinstance(value, str):
            return self._replace_text(value)
        if isinstance(value, list):
            return [self.replace_in(one) for one in value]
        if isinstance(value, dict):
            is_named = self._is_named_in(value)
            return {
                self._replace_text(key): self._replace_below(key, one, value, is_named=is_named)
                for key, one in value.items()
            }
        return value

    def _replace_below(
        self, key: str, one: JsonValue, value: dict[str, JsonValue], *, is_named: bool
    ) -> JsonValue:
        if key == _RULES:
            return one
        if key == "values" and "reason" in value and isinstance(one, dict):
            return {
                name: self.pseudonym if self.name and told == self.name else self.replace_in(told)
                for name, told in one.items()
            }
        if is_named and key in _SENTENCES and isinstance(one, str):
            return self._replace_name(self._replace_text(one))
        return self.replace_in(one)

    def _replace_text(self, text: str) -> str:
        text = address_pattern(self.email).sub(self.new_email, text)
        is_phrase = " " in self.name and not self.name.islower()
        return self._replace_name(text) if is_phrase else text

    def _replace_name(self, text: str) -> str:
        text = re.sub(rf"(?<!\w){re.escape(self.name)}(?!\w)", self.pseudonym, text)
        if not self.mention:
            return text
        mentioned = re.compile(rf"(?<!\w){re.escape(self.mention)}(?!\w)", re.IGNORECASE)
        return mentioned.sub(f"@{self.pseudonym}", text)

    def _is_named_in(self, value: dict[str, JsonValue]) -> bool:
        """Whether there is a reason of ours, {"reason", "values"}, that names the person."""
        found = [value, *(one for one in value.values() if isinstance(one, dict))]
        values = [one["values"] for one in found if isinstance(one.get("values"), dict)]
        named = any(self.name in one.values() for one in values if isinstance(one, dict))
        return bool(self.name) and named


def address_pattern(email: str) -> re.Pattern[str]:
    """Returns: what finds an address, and none of which it is a part."""
    return re.compile(rf"(?<![\w.+-]){re.escape(email)}(?![\w-]|\.\w)", re.IGNORECASE)


def text_models() -> list[type[models.Model]]:
    """Returns: every model with texts in which a person can be named."""
    found = (model for model in apps.get_models(include_auto_created=True) if model not in _APART)
    return [model for model in found if model._meta.managed and _texts(model)]


def replace_person(model: type[models.Model], person: Person) -> int:
    """Put the pseudonym in every row of a model. Returns: how many rows were changed."""
    return sum(_replace_in_row(model, pk, person) for pk in _named(model, person))


def _texts(model: type[models.Model]) -> list[str]:
    kinds = (models.CharField, models.TextField, models.JSONField)
    return [
        one.attname
        for one in model._meta.concrete_fields
        if isinstance(one, kinds)
        and not isinstance(one, EncryptedTextField)
        and not one.primary_key
        and one.attname not in _KEPT_COLUMNS
        and not one.is_relation
        and not one.choices
    ]


def _named(model: type[models.Model], person: Person) -> Iterator[object]:
    """Yields: the keys of the rows that may name the person, each in time to be changed."""
    words, wanted = {}, Q()
    for name in _texts(model):
        words[f"text_{name}"] = Cast(name, TextField())
        for text in filter(None, (person.email, person.name, person.mention)):
            # SQLite keeps what is no ASCII as JSON escapes it.
            for spelled in {text, json.dumps(text)[1:-1]}:
                wanted |= Q(**{f"text_{name}__icontains": spelled})
    rows = model._base_manager.alias(**words).filter(wanted).order_by("pk")
    return iter(list(rows.values_list("pk", flat=True)))


@transaction.atomic
def _replace_in_row(model: type[models.Model], pk: object, person: Person) -> bool:
    names = _texts(model)
    # A worker may write into the row.
    locked = model._base_manager.select_for_update(of=("self",)).filter(pk=pk)
    row = locked.order_by().values(*names).first()
    if row is None:
        return False
    replaced = person.replace_in({**row})
    assert isinstance(replaced, dict)
    changed = {name: replaced[name] for name in names if replaced[name] != row[name]}
    for name, value in changed.items():
        most = getattr(model._meta.get_field(name), "max_length", None)
        if isinstance(value, str) and most:
            changed[name] = value[:most]
    if changed:
        model._base_manager.filter(pk=pk).update(**changed)
    return bool(changed)
