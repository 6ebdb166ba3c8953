"""Encrypt and sign under the newest SECRET_KEY what was so under a former one.

It may be cut short and run again: what is done is left alone. Every change names the old value, so
nothing that a server writes meanwhile is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session as StoredSession
from django.core import signing
from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from opencode_web.lib.crypto import DecryptionError, reencrypt, sealed_token_keys
from opencode_web.lib.fields import EncryptedTextField
from teams.audit_chain.heads import vouch_for_former_keys
from teams.models import FormerKey, User

_BATCH = 200
# What allauth keeps encrypted in the JSON of a second factor, see `teams.identity.factors`.
_FACTOR_SECRETS = ("secret", "seed")


@dataclass
class Rotation:
    """How many values of one kind there are. `unreadable`: the rows of those that no key opens."""

    name: str
    rotated: int = 0
    current: int = 0
    unreadable: list[str] = field(default_factory=list)


def rotate_keys() -> Iterator[Rotation]:
    """Go through everything that depends on SECRET_KEY, one kind after the other."""
    # First, so that a key which is dropped too early loses no token.
    for name, sealed in sealed_token_keys().items():
        FormerKey.objects.get_or_create(name=name, defaults={"sealed": sealed})
    vouch_for_former_keys()
    for model, name in encrypted_fields():
        yield _rotate_field(model, name)
    yield _rotate_factors()
    yield _rotate_sessions()


def encrypted_fields() -> list[tuple[type[Model], str]]:
    """Returns: every field of every model that holds what `lib.crypto` has encrypted."""
    return [
        (model, one.name)
        for model in apps.get_models()
        for one in model._meta.local_fields
        if isinstance(one, EncryptedTextField)
    ]


def _rotate_field(model: type[Model], name: str) -> Rotation:
    done = Rotation(f"{model._meta.label}.{name}")
    rows = model._default_manager.exclude(**{name: ""}).order_by("pk")
    for pk, token in _in_batches(rows.values_list("pk", name)):
        try:
            new = reencrypt(token)
        except DecryptionError:
            done.unreadable.append(str(pk))
            continue
        if new is None:
            done.current += 1
        else:
            done.rotated += model._default_manager.filter(pk=pk, **{name: token}).update(
                **{name: new}
            )
    return done


def _rotate_factors() -> Rotation:
    done = Rotation("second factors")
    for (pk,) in _in_batches(Authenticator.objects.order_by("pk").values_list("pk")):
        with transaction.atomic():
            # A code that is entered meanwhile writes into the same JSON.
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            names = [name for name in _FACTOR_SECRETS if row and row.data.get(name)]
            if row is None or not names:
                continue
            try:
                new = {name: reencrypt(row.data[name]) for name in names}
            except DecryptionError:
                done.unreadable.append(str(pk))
                continue
            if not any(new.values()):
                done.current += 1
                continue
            row.data.update({name: token for name, token in new.items() if token})
            row.save(update_fields=["data"])
            done.rotated += 1
    return done


def _in_batches(rows: Any) -> Iterator[tuple[Any, ...]]:  # of any model, by keys of any kind
    batch = list(rows[:_BATCH])
    while batch:
        yield from batch
        batch = list(rows.filter(pk__gt=batch[-1][0])[:_BATCH])


def _rotate_sessions() -> Rotation:
    """Of browsers: they are signed, and name a hash of the password that is keyed."""
    done = Rotation("sign-in sessions")
    rows = StoredSession.objects.filter(expire_date__gt=timezone.now()).order_by("pk")
    for key, stored in _in_batches(rows.values_list("pk", "session_data")):
        data = StoredSession(session_data=stored).get_decoded()
        if not data:
            continue
        renewed = {**data, **_renewed_hash(data)}
        if renewed == data and _is_signed_now(stored):
            done.current += 1
            continue
        new = import_module(settings.SESSION_ENGINE).SessionStore().encode(renewed)
        changed = StoredSession.objects.filter(pk=key, session_data=stored)
        done.rotated += changed.update(session_data=new)
    return done


def _renewed_hash(data: Mapping[str, Any]) -> dict[str, str]:  # as Django keeps it
    kept = str(data.get(HASH_SESSION_KEY, ""))
    user = User.objects.filter(pk=data.get(SESSION_KEY) or 0).first()
    former = user.get_session_auth_fallback_hash() if user else ()
    if user and any(constant_time_compare(kept, one) for one in former):
        return {HASH_SESSION_KEY: user.get_session_auth_hash()}
    return {}


def _is_signed_now(stored: str) -> bool:
    store = import_module(settings.SESSION_ENGINE).SessionStore
    try:
        signing.loads(
            stored, salt=store().key_salt, serializer=store().serializer, fallback_keys=[]
        )
    except signing.BadSignature:
        return False
    return True
