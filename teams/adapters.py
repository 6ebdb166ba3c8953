from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from opencode_web.lib.bus import publish
from teams.access import ACCESS_CHANGED, user_group
from teams.models import Invite

# Key of the browser's session: the invitation this browser has opened.
INVITE = "invite"


class InviteOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Accounts are made only by who holds an invitation, whatever way of sign-in is added later."""

    def logout(self, request: HttpRequest) -> None:
        """End the browser's session, and have its open connections notice at once."""
        user_id = request.user.pk
        super().logout(request)
        if user_id is not None:
            publish(user_group(user_id), {"t": ACCESS_CHANGED})

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        invite_id = request.session.get(INVITE)
        return bool(invite_id) and Invite.objects.open().filter(pk=invite_id).exists()
