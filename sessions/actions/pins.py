from __future__ import annotations

from django.db import transaction

from sessions.access import SessionAccess
from sessions.models import Pin, Session


@transaction.atomic
def pin_session(access: SessionAccess, *, pinned: bool) -> Session:
    """Put a session at the top of the person's own list, or back. A taste: nothing is audited."""
    user, session = access.principal.user, access.session
    if pinned:
        Pin.objects.get_or_create(user=user, session=session)
    else:
        Pin.objects.filter(user=user, session=session).delete()
    return session
