"""What people do, and the server does, wherever they comment."""

from __future__ import annotations

from django.utils import timezone

from opencode_web.lib.loop import submit
from sessions.access import ProjectAccess, access_project
from sessions.integrations.answers import send_answers
from sessions.integrations.handle import handle_due
from sessions.integrations.replies import send_replies
from sessions.models import InboundDelivery, OutsideReply, Project
from teams.auth import authenticate_user
from teams.models import User
from tests.sessions.factories import script

SAYS = script([{"text": "Tax is added in `till.py` **and** `bill.py`."}])


def reach(user: User, project: Project) -> ProjectAccess:
    return access_project(authenticate_user(user), project.pk)


class Outside:
    """Where people comment."""

    def work(self) -> None:
        """Do what is due, whenever that was to be."""
        InboundDelivery.objects.filter(state="waiting").update(next_at=timezone.now())
        submit(handle_due()).result(30)
        self.write()

    def write(self) -> None:
        pending = OutsideReply.objects.filter(state="pending")
        pending.exclude(kind="comment").update(next_at=timezone.now())
        submit(send_answers()).result(30)
        pending.filter(kind="comment").update(next_at=timezone.now())
        submit(send_replies()).result(30)
