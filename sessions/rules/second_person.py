"""Requests that nobody may allow who has told the agent what to do. Reads only.

Whoever has ever prompted the session is out, as a prompt of an earlier turn can prepare what a
later one sets off. So is whoever has given the agent words in another way: edited a prompt or a
message, answered its questions, rejected a call with a message or imported the conversation.
Service accounts never answer, as anybody who holds their token could, and where one has prompted,
nor does who has made a token of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden
from sessions.approvers import approvers, with_people_behind
from sessions.models import Message, PermissionRequest, QuestionRequest, Session, SessionInput
from sessions.tree import tree_of
from sessions.visibility import may_see
from teams.access import TeamAccess, has_role
from teams.models import Role, Team, User

_MOST_NAMES = 3


@dataclass(frozen=True)
class SecondPerson:
    """Who may not allow something in a session, and who may, by the ids of people."""

    prompted: frozenset[int]
    may_allow: tuple[User, ...]

    @property
    def ids(self) -> str:
        """Of those who may allow it, as pages name those whom a control is for."""
        return " ".join(str(user.pk) for user in self.may_allow)

    @property
    def names(self) -> str:
        """Of those who may allow it, in words; empty where there are none."""
        names = [user.display_name for user in self.may_allow[: _MOST_NAMES + 1]]
        if len(names) > _MOST_NAMES:
            names[_MOST_NAMES:] = [_("others")]
        return get_text_list(names, _("or"))

    @property
    def who(self) -> str:
        """Who may allow it, or how somebody comes to, as a sentence."""
        if self.names:
            return _("%(names)s can.") % {"names": self.names}
        return _(
            "Nobody in the team can at the moment: an admin has to name an approver who has not "
            "prompted this session, or invite one. If the team has no active owner, an operator "
            "can make a member the owner."
        )


def second_person(session: Session, team: Team) -> SecondPerson:
    """Returns: the approvers of the team, or all members where it has named none, who can answer in
    the session and have not prompted it. The same for every session of a tree."""
    prompted = with_people_behind(_prompted(session))
    top = session.root or session
    able = (
        one.user
        for one in approvers(team, session.project)
        if has_role(one.role, Role.MEMBER) and may_see(one.membership, top)
    )
    return SecondPerson(prompted, tuple(user for user in able if user.pk not in prompted))


def _prompted(session: Session) -> frozenset[int]:
    tree = tree_of(session)
    inputs = SessionInput.objects.filter(session__in=tree).values_list("author", "edited_by")
    written = Message.objects.filter(session__in=tree, role="user").values_list("author", flat=True)
    found = {pk for some in (*inputs, written) for pk in some if pk is not None}
    return frozenset(found | writers_of(session))


def writers_of(session: Session) -> set[int]:
    """Returns: who has given its tree words of which no prompt says so: those a fork has, too."""
    tree = tree_of(session)
    answered = QuestionRequest.objects.filter(
        session__in=tree, status=QuestionRequest.Status.ANSWERED
    )
    advised = PermissionRequest.objects.filter(session__in=tree).exclude(feedback="")
    found = (
        Session.writers.through.objects.filter(session__in=tree).values_list("user", flat=True),
        answered.values_list("replied_by", flat=True),
        advised.values_list("replied_by", flat=True),
    )
    return {pk for some in found for pk in some if pk is not None}


def who_may_allow(requests: Iterable[PermissionRequest]) -> dict[str, frozenset[int]]:
    """Returns: by the session at the top the ids of people who may allow those of the requests that
    need a second person. Each tree that has one takes statements of its own."""
    asking = {row.session.top_id: row.session for row in requests if row.second_person}
    return {
        top_id: frozenset(one.pk for one in second_person(row, row.project.team).may_allow)
        for top_id, row in asking.items()
    }


def only_others_may_allow(session: Session) -> bool:
    """Whether a second person is needed for all that waits in its tree."""
    tree = tree_of(session)
    pending = PermissionRequest.objects.pending().filter(session__in=tree)
    needs = {*pending.values_list("second_person", flat=True)}
    return needs == {True} and not QuestionRequest.objects.pending().filter(session__in=tree)


def require_second_person(access: TeamAccess, session: Session) -> None:
    """Raises: Forbidden, with who can, where the person may not allow what the session asks for."""
    found = second_person(session, access.team)
    if any(user.pk == access.user.pk for user in found.may_allow):
        return
    if access.user.pk in _prompted(session):
        reason = _("You have prompted this session, so somebody else must allow this.")
    elif access.user.pk in found.prompted:
        reason = _(
            "You have made a token of the service account that has prompted this session, so "
            "somebody else must allow this."
        )
    elif access.user.service_of_id is not None:
        reason = _("A service account cannot allow this. A person must.")
    else:
        reason = _("Only an approver of the team can allow this.")
    raise Forbidden(f"{reason} {found.who}")
