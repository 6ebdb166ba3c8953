from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from teams.models import Budget, Membership

MAX_AMOUNT = Decimal("9999999.99")
_MEMBER = "member_{}"


# The setting takes as exact ones.
_SESSION_PLACES = 6


# A field for numbers would leave out a comma without a word, and take 20,00 for 2000.
def _amount(look: str = "", **more: Any) -> forms.DecimalField:  # as the field takes them
    shown = {"class": look} if look else {}
    return forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=MAX_AMOUNT,
        decimal_places=2,
        widget=forms.TextInput(attrs={"inputmode": "decimal", **shown}),
        localize=True,
        **more,
    )


def _session_amount() -> forms.DecimalField:
    return forms.DecimalField(
        label=gettext_lazy("For one session"),
        help_text=gettext_lazy(
            "For the whole session, including its sub-agents. At the limit, the session waits "
            "until an admin allows the same amount again."
        ),
        required=False,
        min_value=Decimal(1).scaleb(-_SESSION_PLACES),
        max_value=MAX_AMOUNT,
        decimal_places=_SESSION_PLACES,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        localize=True,
    )


class BudgetForm(forms.Form):
    """The budgets of a month, with a field for each member, and what one session may cost.

    Units: USD; an empty one is none.
    """

    team = _amount(
        label=gettext_lazy("For the whole team"),
        help_text=gettext_lazy("In US dollars per month. Leave it empty for no limit."),
    )
    each = _amount(
        label=gettext_lazy("For each member"),
        help_text=gettext_lazy("For members without a budget of their own below."),
    )
    session = _session_amount()
    allows_unpriced = forms.BooleanField(
        label=gettext_lazy("Allow models without a known price"),
        help_text=gettext_lazy(
            "Their cost is not counted. Without this, they cannot be used while a budget is set."
        ),
        required=False,
    )

    def __init__(
        self,
        members: Sequence[Membership],
        budgets: Iterable[Budget],
        data: QueryDict | None = None,
        *,
        session: Decimal | None,
        allows_unpriced: bool,
    ) -> None:
        found = {(one.scope, one.user_id): one.amount for one in budgets}
        self._users: dict[str, int] = {}
        initial: dict[str, Decimal | bool | None] = {
            "team": found.get((Budget.Scope.TEAM, None)),
            "each": found.get((Budget.Scope.EACH, None)),
            "session": session,
            "allows_unpriced": allows_unpriced,
        }
        for member in members:
            name = _MEMBER.format(member.user_id)
            self._users[name] = member.user_id
            initial[name] = found.get((Budget.Scope.MEMBER, member.user_id))
        super().__init__(data, initial=initial)
        for member in members:
            label = _("Budget of %(name)s") % {"name": member.user.display_name}
            self.fields[_MEMBER.format(member.user_id)] = _amount("input input-small", label=label)

    def of_member(self, user_id: int) -> forms.BoundField:
        """The field of one member."""
        return self[_MEMBER.format(user_id)]

    def to_arguments(self) -> dict[str, Any]:
        """Returns: the amounts of a valid form, by whose they are."""
        data = self.cleaned_data
        members = {user_id: data[name] for name, user_id in self._users.items()}
        shared = {name: data[name] for name in ("team", "each", "session", "allows_unpriced")}
        return {**shared, "members": members}
