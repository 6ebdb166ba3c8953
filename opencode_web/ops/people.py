"""The pages on which operators find people, lock them out and let them in again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import NotFound
from opencode_web.ops.access import access_account, operator_view
from opencode_web.ops.identity import link_of
from opencode_web.ops.people_rows import (
    AccountPage,
    candidates_of,
    find_people,
    load_account,
    load_people,
)
from sessions.actions.people import deactivate_person
from teams.actions.accounts import (
    appoint_owner,
    ownerless_teams,
    reactivate_account,
    revoke_made_tokens,
    set_operator,
    sign_out_account,
)
from teams.actions.identity import set_team_creation
from teams.actions.resets import create_reset
from teams.audit import MAX_REASON
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.models import Team, TeamCreation, User
from teams.policy import team_creation


class PeopleForm(forms.Form):
    """Which accounts to show; nothing given shows all of them."""

    q = forms.CharField(label=gettext_lazy("Name or e-mail"), max_length=200, required=False)
    show = forms.ChoiceField(
        label=gettext_lazy("Show"),
        required=False,
        choices=[
            ("", gettext_lazy("Everyone")),
            ("active", gettext_lazy("Active")),
            ("deactivated", gettext_lazy("Deactivated")),
            ("operators", gettext_lazy("Operators")),
        ],
    )
    unused_since = forms.DateField(
        label=gettext_lazy("Not used since"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class ReasonForm(forms.Form):
    """Why an operator does something. The audit log keeps it."""

    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=MAX_REASON)


class OwnerForm(ReasonForm):
    """Who shall own a team: one of its members who can."""

    member = forms.ChoiceField(label=gettext_lazy("New owner"))
    field_order = ("member", "reason")

    def __init__(self, team: Team, data: QueryDict | None = None) -> None:
        # A page may have one for each of several teams.
        super().__init__(data, prefix=team.pk)
        self.members = {str(row.pk): row for row in candidates_of(team)}
        self.fields["member"].choices = [  # type: ignore[attr-defined]
            (key, f"{row.user.display_name} ({row.user.email})")
            for key, row in self.members.items()
        ]


class TeamCreationForm(forms.Form):
    """Who may create teams."""

    who = forms.ChoiceField(label=gettext_lazy("Who can create teams"), choices=TeamCreation)


@dataclass(frozen=True)
class PersonAct:
    """Something to do to an account; `do` takes the person, `actor`, `reason` and `ip`."""

    id: str
    icon: str
    label: Promise
    text: Promise
    done: Promise
    do: Callable[..., User]
    is_bad: bool = False


DEACTIVATE = PersonAct(
    "deactivate",
    "ban",
    gettext_lazy("Deactivate"),
    gettext_lazy(
        "Ends their browser sessions, connections, terminals and running turns within 5 seconds, "
        "revokes their API tokens and open invitations, and pauses their schedules. Sessions, "
        "projects and memberships are kept, and so are tokens of service accounts that they have "
        "created: revoke them here."
    ),
    gettext_lazy("Account deactivated."),
    deactivate_person,
    is_bad=True,
)
REACTIVATE = PersonAct(
    "reactivate",
    "circle-check",
    gettext_lazy("Reactivate"),
    gettext_lazy(
        "They can sign in again with the same teams and roles. API tokens stay revoked and "
        "schedules stay paused."
    ),
    gettext_lazy("Account reactivated."),
    reactivate_account,
)
SIGN_OUT = PersonAct(
    "sign-out",
    "log-out",
    gettext_lazy("Sign out everywhere"),
    gettext_lazy("Ends every browser session and revokes every API token. They can sign in again."),
    gettext_lazy("Signed out everywhere."),
    sign_out_account,
)
REVOKE_MADE = PersonAct(
    "revoke-made",
    "key-round",
    gettext_lazy("Revoke tokens of service accounts"),
    gettext_lazy(
        "Revokes the tokens of service accounts that this person has created. Programs that use "
        "them need new ones."
    ),
    gettext_lazy("Tokens of service accounts revoked."),
    revoke_made_tokens,
    is_bad=True,
)
MAKE_OPERATOR = PersonAct(
    "make-operator",
    "shield-check",
    gettext_lazy("Make operator"),
    gettext_lazy(
        "Operators manage this server and its accounts. They do not see the work of teams."
    ),
    gettext_lazy("Operator added."),
    lambda user, **why: set_operator(user, operates=True, **why),
)
NO_OPERATOR = PersonAct(
    "remove-operator",
    "user",
    gettext_lazy("Remove as operator"),
    gettext_lazy("They lose access to these pages. Their teams and roles stay."),
    gettext_lazy("Operator removed."),
    lambda user, **why: set_operator(user, operates=False, **why),
)
_ACTS = {
    act.id: act
    for act in (DEACTIVATE, REACTIVATE, SIGN_OUT, REVOKE_MADE, MAKE_OPERATOR, NO_OPERATOR)
}


@require_GET
@never_cache
@operator_view
def people(request: UserRequest) -> HttpResponse:
    """List the accounts, and say who may create teams."""
    return _show_people(request)


@require_POST
@operator_view
def teams_policy(request: UserRequest) -> HttpResponse:
    """Say who may create teams."""
    form = TeamCreationForm(request.POST)

    def act() -> bool:
        who = TeamCreation(form.cleaned_data["who"])
        set_team_creation(request.user, who=who, ip=client_ip(request))
        return True

    if not attempt(form, act):
        return _show_people(request, status=422, creation_form=form)
    return done(request, _("Saved."), to=reverse("ops:people"))


@require_GET
@never_cache
@operator_view
def person(request: UserRequest, person: int) -> HttpResponse:
    """One account."""
    return _show_person(request, access_account(request.user, person))


@require_POST
@operator_view
def person_act(request: UserRequest, person: int, act: str) -> HttpResponse:
    """Do something to an account, for a reason."""
    user = access_account(request.user, person)
    chosen = _ACTS.get(act)
    if chosen is None:
        raise NotFound("Page", act)
    form = ReasonForm(request.POST)
    why = {"actor": request.user, "ip": client_ip(request)}
    changed = attempt(form, lambda: chosen.do(user, reason=form.cleaned_data["reason"], **why))
    if changed is None:
        return _show_person(request, user, status=422, wrong=form)
    return done(request, str(chosen.done), to=reverse("ops:person", args=[user.pk]))


@require_POST
@never_cache
@operator_view
def person_reset(request: UserRequest, person: int) -> HttpResponse:
    """Make a link with which the person sets a new password, and show it once."""
    user = access_account(request.user, person)
    form = forms.Form(request.POST)
    ip = client_ip(request)
    secret = attempt(form, lambda: create_reset(user, actor=request.user, ip=ip))
    if secret is None:
        return _show_person(request, user, status=422, wrong=form)
    return _show_person(request, user, reset_link=link_of(request, secret))


@require_POST
@operator_view
def person_owner(request: UserRequest, person: int, team: str) -> HttpResponse:
    """Give a team of somebody who is locked out another owner."""
    user = access_account(request.user, person)
    found = ownerless_teams().filter(pk=team, memberships__user=user).first()
    if found is None:
        raise NotFound("Team", team)
    form = OwnerForm(found, request.POST)
    made = attempt(
        form,
        lambda: appoint_owner(
            form.members[form.cleaned_data["member"]],
            actor=request.user,
            reason=form.cleaned_data["reason"],
            ip=client_ip(request),
        ),
    )
    if made is None:
        return _show_person(request, user, status=422, wrong=form)
    text = _("%(name)s now owns %(team)s.") % {
        "name": made.user.display_name,
        "team": found.name,
    }
    return done(request, text, to=reverse("ops:person", args=[user.pk]))


def _acts_for(account: AccountPage, operator: User) -> list[PersonAct]:
    user, of_tokens = account.row.user, [REVOKE_MADE] if account.made else []
    if not user.is_active:
        return [*of_tokens, REACTIVATE]
    if user.pk == operator.pk:
        return [SIGN_OUT, *of_tokens]
    operates = NO_OPERATOR if user.is_superuser else MAKE_OPERATOR
    return [SIGN_OUT, *of_tokens, operates, DEACTIVATE]


def _show_person(
    request: UserRequest, user: User, *, status: int = 200, **more: object
) -> HttpResponse:
    account = load_account(user)
    context: dict[str, object] = {
        "account": account,
        "ownerless": [(team, OwnerForm(team)) for team in account.ownerless],
        "acts": _acts_for(account, request.user),
        "can_reset": user.is_active,
        "max_reason": MAX_REASON,
        "wrong": None,
        "reset_link": "",
        **more,
    }
    return show(request, "ops/person.html", "ops/_person.html", context, status=status)


def _show_people(request: UserRequest, *, status: int = 200, **more: object) -> HttpResponse:
    form = PeopleForm(request.GET)
    is_valid = form.is_valid()
    found = find_people(form.cleaned_data) if is_valid else User.objects.none()
    page, rows = load_people(found, request.GET.get("page", ""))
    asked = {name: request.GET[name] for name in form.fields if request.GET.get(name)}
    context: dict[str, object] = {
        "form": form,
        "page": page,
        "rows": rows,
        "asked": urlencode(asked),
        "ownerless": list(ownerless_teams()),
        "creation_form": TeamCreationForm(initial={"who": team_creation()}),
        **more,
    }
    status = status if is_valid else 422
    return show(request, "ops/people.html", "ops/_people.html", context, status=status)
