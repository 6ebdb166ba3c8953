"""Replace a person by a pseudonym, and note what was erased for good."""

from __future__ import annotations

import json
import re
import secrets
from datetime import timedelta
from functools import partial

from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.sessions.models import Session as StoredSession
from django.db import IntegrityError, models, transaction
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import Conflict, Forbidden
from opencode_web.lib.json import JsonObject
from teams.access import ACCESS_CHANGED, operators, user_group
from teams.actions.members import end_membership
from teams.actions.pseudonyms import address_pattern
from teams.audit import AuditAction, record
from teams.models import AuditEntry, Erasure, IdempotencyKey, Membership, Role, Spend, Team, User
from teams.retention.holds import holds_on_person, refuse_held

# Longer than a batch takes: then the worker is taken to be dead.
LEASE = timedelta(seconds=300)
# Key of the preferences of accounts that an import made for nobody: the ID of the team.
IMPORTED_INTO = "imported_into"
_BATCH = 1000
_DOMAIN = "erased.invalid"


@transaction.atomic
def open_erasure(
    kind: Erasure.Kind, subject: str, *, actor: User | None, team: Team | None, pseudonym: str = ""
) -> Erasure:
    """Have something erased for good. Whoever calls it has made sure that it may be.

    Raises: Conflict where that is under way.
    """
    try:
        with transaction.atomic():
            row = Erasure.objects.create(
                kind=kind, subject=subject, pseudonym=pseudonym, requested_by=actor
            )
    except IntegrityError as exc:
        raise Conflict(_("This is being erased already.")) from exc
    data: JsonObject = {"kind": kind.value, "subject": subject}
    record(AuditAction.ERASURE_REQUESTED, actor=actor, team=team, target=row, data=data)
    if team is not None:
        # The team's own log may be what goes.
        record(AuditAction.ERASURE_REQUESTED, actor=actor, team=None, target=row, data=data)
    return row


def open_person_erasure(user: User, *, actor: User | None) -> Erasure:
    """Have a person erased for good. `actor` is an operator, or None for the command line.

    Raises: Forbidden for oneself; Held; Conflict for the last operator, and for the last owner of a
    team.
    """
    if actor is not None and actor.pk == user.pk:
        raise Forbidden(_("Another operator has to erase your account."))
    if user.service_of_id is not None:
        raise Conflict(_("This is a service account. Delete it in its team."))
    _require_erasable(user)
    pseudonym = f"person-{secrets.token_hex(4)}"
    return open_erasure(
        Erasure.Kind.PERSON, str(user.pk), actor=actor, team=None, pseudonym=pseudonym
    )


def _require_erasable(user: User) -> None:
    refuse_held(holds_on_person(user))
    if user.is_superuser and not operators().exclude(pk=user.pk).exists():
        raise Conflict(_("This is the last operator. Make somebody else an operator first."))
    owned = Membership.objects.filter(user=user, role=Role.OWNER, expires_at=None)
    for row in owned.select_related("team"):
        owners = row.team.memberships.filter(role=Role.OWNER, expires_at=None)
        if not owners.exclude(user=user).exists():
            raise Conflict(
                _("%(team)s needs an owner. Make someone else an owner first, or erase the team.")
                % {"team": row.team.name}
            )


def email_of(pseudonym: str) -> str:
    """Returns: the address that nobody has, in place of the person's."""
    return f"{pseudonym}@{_DOMAIN}"


@transaction.atomic
def suspend_account(user: User) -> None:
    """Have a person who is about to be erased do nothing more. Raises: as `open_person_erasure`."""
    user = User.objects.select_for_update().get(pk=user.pk)
    _require_erasable(user)
    for row in Membership.objects.filter(user=user).select_related("team", "user"):
        end_membership(row, AuditAction.MEMBER_REMOVED, actor=None, ip=None)
    keys = list(UserSession.objects.filter(user=user).values_list("session_key", flat=True))
    StoredSession.objects.filter(session_key__in=keys).delete()
    User.objects.filter(pk=user.pk).update(is_active=False)
    transaction.on_commit(partial(publish, user_group(user.pk), {"t": ACCESS_CHANGED}))


@transaction.atomic
def erase_account(user: User, pseudonym: str) -> int:
    """Leave of an account nothing but a pseudonym that cannot sign in.

    What would go with the account is removed: tokens, keys, drafts, pins. What it has written
    stays, under the pseudonym. Returns: how many rows were removed. Raises: Held.
    """
    user = User.objects.select_for_update().get(pk=user.pk)
    refuse_held(holds_on_person(user))
    callers = _callers(User.objects.filter(pk=user.pk))
    IdempotencyKey.objects.filter(caller__in=callers).delete()
    removed = sum(rows.delete()[0] for rows in _owned_rows(user))
    user.email, user.name = email_of(pseudonym), pseudonym
    user.is_active = user.is_staff = user.is_superuser = False
    user.preferences, user.last_seen_on, user.last_login = {}, None, None
    user.set_unusable_password()
    user.save()
    return removed


def _owned_rows(user: User) -> list[QuerySet[models.Model]]:
    """Returns: what the deletion of the account would delete, but for numbers of what was spent."""
    found = []
    for model in apps.get_models(include_auto_created=True):
        for one in model._meta.concrete_fields:
            remote = one.remote_field
            if remote is None or remote.model is not User or model is Spend:
                continue
            if getattr(remote, "on_delete", None) is models.CASCADE:
                found.append(model._base_manager.filter(**{one.name: user}))
    return found


def _callers(users: QuerySet[User]) -> list[str]:
    ids = users.values_list("pk", "api_tokens__pk")
    return [*{f"user:{user}" for user, _token in ids}, *{token for _user, token in ids if token}]


def forget_imported(team: Team) -> None:
    """Take the names from the accounts that the import of a team made for nobody."""
    User.objects.filter(**{f"preferences__{IMPORTED_INTO}": team.pk}).update(
        name="", preferences={}
    )


def forget_answers(team: Team) -> None:
    """Empty the kept answers to requests of everybody who is in a team.

    The keys stay: a request that is repeated must not be carried out again.
    """
    members = User.objects.filter(memberships__team=team)
    rows = IdempotencyKey.objects.filter(caller__in=_callers(members)).exclude(answer="")
    rows.update(answer="", withheld="what it said was erased")


def erase_person_in_audit(user: User, *, email: str, pseudonym: str) -> int:
    """Replace a person in all entries: as who did it, and as whom it was done to.

    Returns: how many entries.
    """
    count = _erase_in_batches(AuditEntry.objects.filter(actor=user).exclude(salt=""), pseudonym)
    # SQLite keeps what is no ASCII as JSON escapes it.
    words = Q(words__icontains=email) | Q(words__icontains=json.dumps(email)[1:-1])
    named = AuditEntry.objects.alias(words=Cast("names", TextField())).filter(words)
    count += _erase_in_batches(named, "", naming=address_pattern(email))
    about = AuditEntry.objects.filter(target_type="user", target_id=str(user.pk))
    by_address = AuditEntry.objects.filter(actor_email__iexact=email)
    count += _erase_in_batches(about.exclude(salt=""), "")
    return count + _erase_in_batches(by_address, pseudonym)


def erase_targets_in_audit(team: Team, kind: str, ids: list[str]) -> int:
    """Take the words away of all entries about these rows. Returns: how many entries."""
    rows = AuditEntry.objects.filter(team=team, target_type=kind).exclude(salt="")
    if not rows.exists():
        return 0
    # A database takes only so many values at once, and a session may have more events.
    parts = (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
    return sum(_erase_in_batches(rows.filter(target_id__in=some), "") for some in parts)


def _erase_in_batches(
    rows: models.QuerySet[AuditEntry], pseudonym: str, *, naming: re.Pattern[str] | None = None
) -> int:
    """`naming`: of these only those in whose names it is found."""
    done = 0
    # Those that are not committed have no number yet.
    rows = rows.exclude(seq=None).order_by("pk")
    while found := list(rows.values_list("pk", "names")[:_BATCH]):
        ids = [
            pk
            for pk, names in found
            if naming is None or naming.search(json.dumps(names, ensure_ascii=False))
        ]
        done += AuditEntry.objects.filter(pk__in=ids).erase(pseudonym)
        rows = rows.filter(pk__gt=found[-1][0])
    return done


def _free() -> Q:
    now = timezone.now()
    return Q(state=Erasure.State.WAITING) | Q(state=Erasure.State.RUNNING, lease_until__lt=now)


def waiting_erasures() -> list[str]:
    """Returns: the jobs that nobody does, the oldest first."""
    rows = Erasure.objects.filter(_free()).order_by("created_at")
    return list(rows.values_list("pk", flat=True))


def claim_erasure(erasure_id: str) -> Erasure | None:
    """Take a job that waits, or whose worker is dead. Returns: None when somebody else has it."""
    mine = Erasure.objects.filter(_free(), pk=erasure_id)
    if not mine.update(state=Erasure.State.RUNNING, lease_until=timezone.now() + LEASE):
        return None
    return Erasure.objects.get(pk=erasure_id)


def note_progress(row: Erasure, **counted: int) -> None:
    """Add to the report, and keep the job."""
    for name, count in counted.items():
        before = row.report.get(name, 0)
        row.report[name] = (before if isinstance(before, int) else 0) + count
    row.lease_until = timezone.now() + LEASE
    row.save(update_fields=["report", "done", "total", "lease_until"])


def note_fault(row: Erasure, fault: Exception) -> None:
    """Write down what no code expected, without what it may say of the data."""
    told = fault.strerror if isinstance(fault, OSError) else ""
    row.problem = ": ".join(filter(None, (type(fault).__name__, told)))
    row.failing_since = row.failing_since or timezone.now()
    row.save(update_fields=["problem", "failing_since"])


@transaction.atomic
def end_erasure(row: Erasure, problem: str = "") -> None:
    """Write down how it ended."""
    row.state = Erasure.State.FAILED if problem else Erasure.State.DONE
    row.problem, row.ended_at, row.lease_until = problem[:500], timezone.now(), None
    row.failing_since = None
    row.save(update_fields=["state", "problem", "failing_since", "ended_at", "lease_until"])
    data: JsonObject = {"kind": row.kind, "subject": row.subject, **row.report}
    if not problem:
        record(AuditAction.ERASURE_DONE, actor=row.requested_by, team=None, target=row, data=data)
