"""What somebody is about to say. Theirs alone: nobody is told, and nothing is audited."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.errors import Invalid, NotFound
from sessions.access import ProjectAccess, SessionAccess
from sessions.models import KeptDraft, Project, Session
from sessions.retention.holds import without_held_drafts
from sessions.secrets import hide_keys
from teams.models import Role, User

MAX_CHARS = 200_000
CHOICES = ("agent", "model", "variant")
KEPT_FOR = timedelta(days=30)


def save_draft(
    access: ProjectAccess | SessionAccess, *, text: str, typed_at: datetime
) -> KeptDraft | None:
    """Keep what was typed, unless something newer is kept already.

    Returns: None when there is something newer. Raises: NotFound below member; Invalid when it is
    longer than a message can be.
    """
    require_writer(access)
    if len(text) > MAX_CHARS:
        raise Invalid(f"A draft can have at most {MAX_CHARS:,} characters.", field="text")
    text = hide_keys(access.project, text)
    session = access.session if isinstance(access, SessionAccess) else None
    # A clock that is ahead would win for good. Browsers tell the time in whole milliseconds.
    now = timezone.now()
    typed_at = min(typed_at, now.replace(microsecond=now.microsecond // 1000 * 1000))
    return _put(access.principal.user, access.project, session, text=text, typed_at=typed_at)


def settle_draft(user: User, project: Project, session: Session | None) -> None:
    """It was sent: older copies on other devices count no more."""
    row = _put(user, project, session, text="", typed_at=timezone.now())
    if row and row.choices:
        row.choices = {}
        row.save(update_fields=["choices"])


@transaction.atomic
def save_choices(access: ProjectAccess | SessionAccess, chosen: dict[str, str]) -> None:
    """Keep what the next message is for, by `CHOICES`, beside what was chosen before.

    Raises: NotFound below member.
    """
    require_writer(access)
    session = access.session if isinstance(access, SessionAccess) else None
    row, _is_new = KeptDraft.objects.select_for_update().get_or_create(
        user=access.principal.user,
        session=session,
        **({} if session else {"project": access.project}),
        # Nothing is typed yet, so whatever a browser has is newer.
        defaults={"project": access.project, "typed_at": datetime.fromtimestamp(0, tz=UTC)},
    )
    # The variant that was chosen is one of the model before.
    before = {} if "model" in chosen else row.choices
    kept = {name: value for name, value in row.choices.items() if name == "agent"} | before
    row.choices, row.saved_at = kept | chosen, timezone.now()
    row.save(update_fields=["choices", "saved_at"])


def require_writer(access: ProjectAccess | SessionAccess) -> None:
    """Raises: NotFound below member."""
    if not access.team.can(Role.MEMBER):
        raise NotFound("Project", access.project.pk)


@transaction.atomic
def _put(
    user: User, project: Project, session: Session | None, *, text: str, typed_at: datetime
) -> KeptDraft | None:
    rows = KeptDraft.objects.select_for_update()
    row, is_new = rows.get_or_create(
        user=user,
        session=session,
        **({} if session else {"project": project}),
        defaults={"project": project, "text": text, "typed_at": typed_at},
    )
    if is_new:
        return row
    if row.typed_at > typed_at:
        return None
    row.text, row.typed_at, row.saved_at = text, typed_at, timezone.now()
    row.save(update_fields=["text", "typed_at", "saved_at"])
    return row


def prune_drafts() -> int:
    """Returns: how many nobody has changed for a month, and are gone. What is held stays."""
    old = KeptDraft.objects.filter(saved_at__lt=timezone.now() - KEPT_FOR)
    return without_held_drafts(old).delete()[0]
