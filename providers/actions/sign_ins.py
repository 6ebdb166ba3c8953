"""Sign-ins at providers: what is kept of one that has begun, and what it ends in."""

from __future__ import annotations

import json
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import decrypt, encrypt
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from providers.account_settings import named_for
from providers.actions.accounts import create_provider
from providers.actions.rows import account_place, forget_moved_keys, lock_provider
from providers.catalog import known_provider
from providers.credentials import put_grant, renew_grant
from providers.kinds import ProviderKind
from providers.llm.sign_in import Begun, Grant, Pending
from providers.models import Credential, ProviderConfig, SignInAttempt
from teams.audit import AuditAction, record
from teams.models import Team, User

# It would send the code of their teams to a place of their choice.
_OWN_HOST = gettext_noop(
    "Your own account must be at github.com, a ghe.com domain, gitlab.com or this "
    "server's GitLab. Ask an admin to connect other hosts for the team."
)
# Of one person: further ones take the place of the oldest.
MAX_PENDING = 5
# A provider may say that a code is good for years.
LONGEST = timedelta(hours=1)
# What a page may still ask about, from its beginning.
KEPT_FOR = timedelta(days=1)
# How long the one who refreshes a token has before another process may.
CLAIM_S = 45.0


def check_host(holder: Team | User | None, grant: Grant) -> None:
    """Raises: Invalid for a person's account at a host of their own."""
    if isinstance(holder, User) and grant.named_host not in {"", settings.GITLAB_INSTANCE_URL}:
        raise Invalid(_(_OWN_HOST))


@transaction.atomic
def create_attempt(
    holder: Team | User | None, *, provider_id: str, method: str, begun: Begun, actor: User
) -> SignInAttempt:
    """Keep a sign-in that has begun. Earlier ones of the person at this provider end."""
    pending = SignInAttempt.objects.filter(started_by=actor, status=SignInAttempt.Status.PENDING)
    others = pending.exclude(provider_id=provider_id).order_by("-created_at")
    old = [*others.values_list("pk", flat=True)[MAX_PENDING - 1 :]]
    ended = pending.filter(Q(provider_id=provider_id) | Q(pk__in=old))
    ended.update(status=SignInAttempt.Status.CANCELLED, state="")
    now = timezone.now()
    return SignInAttempt.objects.create(
        provider_id=provider_id,
        team=holder if isinstance(holder, Team) else None,
        owner=holder if isinstance(holder, User) else None,
        started_by=actor,
        method=method,
        state=_sealed(begun.state),
        url=begun.url,
        user_code=begun.user_code,
        redirect_uri=begun.redirect_uri,
        interval_s=begun.interval_s,
        next_poll_at=now + timedelta(seconds=begun.interval_s),
        expires_at=now + min(timedelta(seconds=begun.expires_in_s), LONGEST),
    )


def claim_step(attempt: SignInAttempt) -> JsonObject | None:
    """Take the next step of an attempt upon oneself, so that no other process takes it as well.

    Returns: the state to go on with; None when it is not due, or somebody else is at it.
    Raises: DecryptionError.
    """
    now = timezone.now()
    due = SignInAttempt.objects.filter(
        pk=attempt.pk, status=SignInAttempt.Status.PENDING, next_poll_at__lte=now
    )
    # A step takes at most as long as its request; the answer says when the next one is due.
    if not due.update(next_poll_at=now + timedelta(seconds=CLAIM_S)):
        return None
    state = SignInAttempt.objects.values_list("state", flat=True).get(pk=attempt.pk)
    opened: JsonObject = json.loads(decrypt(state))
    return opened


def wait_on(attempt: SignInAttempt, pending: Pending | None = None) -> None:
    """Say when the next step is due: as the provider wants it, or at once for another try."""
    wait_s = pending.interval_s if pending else 0.0
    fields: dict[str, object] = {"next_poll_at": timezone.now() + timedelta(seconds=wait_s)}
    if pending is not None:
        fields |= {"state": _sealed(pending.state), "interval_s": pending.interval_s}
    _pending(attempt).update(**fields)


def fail_attempt(attempt: SignInAttempt, fault: str) -> None:
    """End an attempt. `fault`: the name of a class of `providers.llm.sign_in.errors`."""
    status = SignInAttempt.Status.FAILED
    _pending(attempt).update(status=status, fault=fault, state="")


def cancel_attempt(attempt: SignInAttempt) -> None:
    """Give an attempt up. One that has ended stays as it is."""
    _pending(attempt).update(status=SignInAttempt.Status.CANCELLED, state="")


@transaction.atomic
def complete_attempt(
    attempt: SignInAttempt, grant: Grant, *, ip: str | None = None
) -> ProviderConfig:
    """Keep what an attempt has ended in as the credential of its holder's account.

    Raises: NotFound when it was cancelled, or completed, in the meantime.
    """
    if not _pending(attempt).update(status=SignInAttempt.Status.COMPLETE, state=""):
        raise NotFound("Sign-in", attempt.pk)
    return keep_grant(
        attempt.team or attempt.owner, attempt.provider_id, grant, actor=attempt.started_by, ip=ip
    )


@transaction.atomic
def keep_grant(
    holder: Team | User | None,
    provider_id: str,
    grant: Grant,
    *,
    actor: User,
    ip: str | None = None,
) -> ProviderConfig:
    """Store a grant as the credential of an account, which is set up where there is none.

    Raises: NotFound for a provider that is not in the catalog; Invalid for a person's account at a
    host of their own.
    """
    check_host(holder, grant)
    team = holder if isinstance(holder, Team) else None
    owner = holder if isinstance(holder, User) else None
    row = ProviderConfig.objects.filter(team=team, owner=owner, provider_id=provider_id).first()
    if row is None:
        known = known_provider(provider_id)
        if known is None:
            raise NotFound("Provider", provider_id)
        row = create_provider(
            holder,
            actor=actor,
            kind=known.kind,
            name=known.name,
            provider_id=provider_id,
            base_url=known.base_url,
            ip=ip,
        )
    row = lock_provider(row)
    named = named_for(provider_id, ProviderKind(row.kind), grant.connection)
    if named:
        before = account_place(row)
        row.connection = {**row.connection, **named}
        row.save(update_fields=["connection"])
        forget_moved_keys(row, before=before)
    credential = put_grant(row, grant, actor=actor)
    # What the earlier account could use says nothing of this one.
    ProviderConfig.objects.filter(pk=row.pk).update(listed={}, listed_at=None)
    data: JsonObject = {"provider": provider_id, "account": credential.account}
    record(AuditAction.PROVIDER_SIGNED_IN, actor=actor, team=team, target=row, data=data, ip=ip)
    return row


@transaction.atomic
def keep_listing(row: ProviderConfig, listed: dict[str, JsonObject]) -> None:
    """Store the models that a provider says an account can use."""
    ProviderConfig.objects.filter(pk=row.pk).update(listed=listed, listed_at=timezone.now())


def claim_refresh(credential_id: int, early: timedelta) -> tuple[Credential, bool] | None:
    """Take it upon oneself to refresh a token.

    Returns: the credential, and whether it is to be refreshed by the caller; None while another
    process does that.
    Raises: Credential.DoesNotExist.
    """
    rows = Credential.objects.select_related("provider__team")
    # Many wait for one, and each looks again and again: who only waits takes no lock.
    credential = rows.get(pk=credential_id)
    if _is_due(credential, early) and not _is_claimed(credential):
        with transaction.atomic():
            credential = rows.select_for_update(of=("self",)).get(pk=credential_id)
            if _is_due(credential, early) and not _is_claimed(credential):
                credential.refreshing_until = timezone.now() + timedelta(seconds=CLAIM_S)
                credential.save(update_fields=["refreshing_until"])
                return credential, True
    return None if _is_due(credential, early) else (credential, False)


def _is_due(credential: Credential, early: timedelta) -> bool:
    ends = credential.expires_at
    return not credential.fault and ends is not None and ends <= timezone.now() + early


def _is_claimed(credential: Credential) -> bool:
    until = credential.refreshing_until
    return until is not None and until > timezone.now()


@transaction.atomic
def keep_refreshed(credential: Credential, grant: Grant) -> None:
    """Store a token that was refreshed, unless somebody has replaced the credential meanwhile."""
    current = Credential.objects.select_for_update().filter(pk=credential.pk).first()
    if current is not None and current.secret == credential.secret:
        renew_grant(current, grant)


@transaction.atomic
def give_up_refresh(credential: Credential, *, is_signed_out: bool) -> None:
    """End a refresh that has failed: for good, or so that the next call tries again."""
    row = credential.provider
    same = Credential.objects.filter(pk=credential.pk, secret=credential.secret)
    fault = Credential.Fault.SIGNED_OUT if is_signed_out else Credential.Fault.NONE
    if same.update(refreshing_until=None, fault=fault) and is_signed_out:
        data: JsonObject = {"provider": row.provider_id, "by": "provider"}
        record(AuditAction.PROVIDER_SIGNED_OUT, actor=None, team=row.team, target=row, data=data)


@transaction.atomic
def forget_sign_in(credential: Credential, *, actor: User, ip: str | None = None) -> None:
    """Delete the credential of a sign-in."""
    row = credential.provider
    if Credential.objects.filter(pk=credential.pk).delete()[0]:
        ProviderConfig.objects.filter(pk=row.pk).update(
            tested_at=None, test_fault="", listed={}, listed_at=None
        )
        data: JsonObject = {"provider": row.provider_id, "account": credential.account}
        record(
            AuditAction.PROVIDER_SIGNED_OUT,
            actor=actor,
            team=row.team,
            target=row,
            data=data,
            ip=ip,
        )


@transaction.atomic
def prune_attempts() -> None:
    """Delete sign-ins that began long ago, whatever they ended in."""
    SignInAttempt.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()


def _pending(attempt: SignInAttempt) -> QuerySet[SignInAttempt]:
    return SignInAttempt.objects.filter(pk=attempt.pk, status=SignInAttempt.Status.PENDING)


def _sealed(state: JsonObject) -> str:
    return encrypt(json.dumps(state))
