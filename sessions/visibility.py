"""What of a team's work somebody sees, and in which role: the one rule.

Admins and owners of a team oversee it, and so do operators in an emergency: they see everything, in
their role. For everybody else the role in the project decides, the highest of their own and those
of their groups; without any, the role in the team, where the project is open to it. Of private
sessions they see their own. Billing sees no work, whatever else is given.

Sub-agents belong to the session at the top, whoever has prompted them.
"""

from __future__ import annotations

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, Subquery

from sessions.models import Project, ProjectMember, Session
from teams.access import TeamAccess, has_role, roles_with
from teams.models import Membership, Role, User

# Of a person or of what a query around has.
Person = int | OuterRef | F


def oversees(membership: Membership) -> bool:
    """Whether the person sees everything in the team."""
    return membership.expires_at is not None or has_role(membership.role, Role.ADMIN)


def role_in(membership: Membership, *, given: str | None, is_restricted: bool) -> Role | None:
    """`given`: the highest role in the project. Returns: the role there, or None for no access."""
    role = Role(membership.role)
    if oversees(membership) or not has_role(role, Role.VIEWER):
        return role
    if given:
        return Role(given)
    return None if is_restricted else role


def overseen_teams(user: Person) -> QuerySet[Membership, str]:
    """Returns: ids of the teams in which a person sees everything."""
    rows = Membership.objects.current().filter(user=user)
    rows = rows.filter(Q(role__in=roles_with(Role.ADMIN)) | Q(expires_at__isnull=False))
    return rows.values_list("team_id", flat=True)


def _given(person: Q, project: str | OuterRef) -> QuerySet[ProjectMember]:
    return ProjectMember.objects.filter(person, project=project)


def _highest(rows: QuerySet[ProjectMember]) -> Subquery:
    # "member" comes before "viewer".
    return Subquery(rows.order_by("role").values("role")[:1])


def _of_user(user: Person) -> Q:
    return Q(membership__user=user) | Q(group__members__user=user)


def given_role(user: Person, project: str | OuterRef) -> Subquery:
    """Returns: the highest role that a person has in a project itself, none for NULL."""
    return _highest(_given(_of_user(user), project))


def given_to(row: Model) -> str | None:
    """Returns: what `given_role` found for a row that was annotated with it."""
    role: str | None = vars(row)["given_role"]
    return role


def given_to_member(project_id: str) -> Subquery:
    """Like `given_role`, of the membership that the query around has."""
    person = Q(membership=OuterRef("pk")) | Q(group__members=OuterRef("pk"))
    return _highest(_given(person, project_id))


def seen_projects(user: Person, *, prefix: str = "") -> Q:
    """Within teams of the person. `prefix` leads to the project, such as `project__`."""
    given = _given(_of_user(user), OuterRef(f"{prefix}pk"))
    is_open = Q(**{f"{prefix}is_restricted": False})
    return is_open | Q(**{f"{prefix}team__in": overseen_teams(user)}) | Q(Exists(given))


def seen_sessions(user: Person) -> Q:
    """Within teams of the person."""
    is_open = Q(root=None, is_private=False) | Q(root__is_private=False)
    own = Q(root=None, owner=user) | Q(root__owner=user)
    overseen = Q(project__team__in=overseen_teams(user))
    return seen_projects(user, prefix="project__") & (is_open | own | overseen)


def projects_in(access: TeamAccess) -> QuerySet[Project]:
    """Returns: the projects of a team that the person sees."""
    if not access.in_team.sees_work:
        return Project.objects.none()
    rows = Project.objects.filter(team=access.team)
    return rows if oversees(access.membership) else rows.filter(seen_projects(access.user.pk))


def named_projects(access: TeamAccess) -> QuerySet[Project]:
    """Returns: those whose names stand beside what they cost. Billing sees no others' names."""
    if access.in_team.sees_work:
        return projects_in(access)
    return Project.objects.filter(team=access.team, is_restricted=False)


def sessions_in(access: TeamAccess) -> QuerySet[Session]:
    """Returns: the sessions of a team that the person sees, those of sub-agents among them."""
    if not access.in_team.sees_work:
        return Session.objects.none()
    rows = Session.objects.filter(project__team=access.team)
    return rows if oversees(access.membership) else rows.filter(seen_sessions(access.user.pk))


def open_sessions(team_id: str) -> QuerySet[Session]:
    """Returns: the sessions of a team that everybody in it sees who sees its work."""
    is_open = Q(root=None, is_private=False) | Q(root__is_private=False)
    return Session.objects.filter(is_open, project__team=team_id, project__is_restricted=False)


def has_own_view(access: TeamAccess) -> bool:
    """Whether the person sees something else in the team than others of their role. One query."""
    user, team = access.user, access.team
    given = ProjectMember.objects.filter(_of_user(user.pk), project__team=team)
    private = Session.objects.filter(owner=user, is_private=True, project__team=team)
    own = Membership.objects.filter(Exists(given) | Exists(private), pk=access.membership.pk)
    return own.exists()


def with_roles(sessions: QuerySet[Session], access: TeamAccess) -> QuerySet[Session]:
    """Have `role_for` know the role of the person in the project of each."""
    if oversees(access.membership):
        return sessions
    return sessions.annotate(given_role=given_role(access.user.pk, OuterRef("project")))


def role_for(access: TeamAccess, session: Session) -> Role:
    """Returns: the person's role in a session that they see. `session.project` should be loaded."""
    membership = access.membership
    given = None if oversees(membership) else given_to(session)
    role = role_in(membership, given=given, is_restricted=session.project.is_restricted)
    return role or Role.VIEWER


def people_who_see(project: Project, session: Session | None = None) -> list[User]:
    """Returns: the people of the team who see a project, or a session of it, by name; not operators
    in an emergency. One query."""
    people = Membership.objects.filter(team=project.team_id, expires_at=None)
    people = people.filter(user__is_active=True, user__service_of=None).select_related("user")
    people = people.annotate(given_role=given_to_member(project.pk)).order_by("user__name", "pk")
    is_restricted = project.is_restricted
    rows = ((row, role_in(row, given=given_to(row), is_restricted=is_restricted)) for row in people)
    seeing = (row for row, role in rows if role is not None and has_role(role, Role.VIEWER))
    top = session and (session.root or session)
    return [row.user for row in seeing if top is None or may_see(row, top)]


def may_see(membership: Membership, session: Session) -> bool:
    """Whether somebody in a session's project sees it, too. `session` is one at the top."""
    is_open = not session.is_private or session.owner_id == membership.user_id
    return is_open or oversees(membership)
