from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.formats import get_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.decimal_field import LocalDecimalField
from teams.budgets import Limit, Scope
from teams.models import Budget, Membership, Period
from teams.models.budget import WARN_PERCENT

MAX_AMOUNT = Decimal("9999999.99")
_MEMBER = "member_{}"


# The setting takes as exact ones.
_SESSION_PLACES = 6


class AmountField(LocalDecimalField):
    """USD, with or without a separator of thousands."""

    def __init__(self, *, decimal_places: int = 2, **more: Any) -> None:
        super().__init__(max_value=MAX_AMOUNT, decimal_places=decimal_places, **more)

    def to_python(self, value: Any) -> Any:  # Any: as its base
        text = value.strip() if isinstance(value, str) else ""
        group, point = (
            re.escape(get_format(name)) for name in ("THOUSAND_SEPARATOR", "DECIMAL_SEPARATOR")
        )
        if group != point and re.fullmatch(
            rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{point}\d*)?", text
        ):
            value = re.sub(group, "", text)
        return super().to_python(value)


def _amount(look: str = "", **more: Any) -> AmountField:  # as the field takes them
    return AmountField(look=look, min_value=Decimal(0), **more)


def _warn_percent() -> forms.IntegerField:
    return forms.IntegerField(
        label=gettext_lazy("Warn at (percent)"),
        help_text=gettext_lazy("From this share on, the message field shows a warning."),
        required=False,
        min_value=1,
        max_value=99,
        initial=WARN_PERCENT,
    )


def _session_amount() -> AmountField:
    return AmountField(
        label=gettext_lazy("For one session"),
        help_text=gettext_lazy(
            "For the whole session, including its sub-agents. At the limit, the session waits "
            "until an admin allows the same amount again."
        ),
        min_value=Decimal(1).scaleb(-_SESSION_PLACES),
        decimal_places=_SESSION_PLACES,
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
    warn_percent = _warn_percent()
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
        rows = list(budgets)
        found = {(one.scope, one.user_id): one.amount for one in rows}
        self._users: dict[str, int] = {}
        initial: dict[str, Decimal | bool | int | None] = {
            "warn_percent": rows[0].warn_percent if rows else WARN_PERCENT,
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
        names = ("team", "each", "session", "allows_unpriced", "warn_percent")
        shared = {name: data[name] for name in names}
        return {**shared, "members": members}


# Whose a budget of the form is: also "member:<id>" and "project:<id>".
_WHOSE = (Scope.TEAM, Scope.EACH, Scope.SERVICE, Scope.MODEL)
# Whose hard budgets of a month `BudgetForm` has.
_OF_MONTH = (Scope.TEAM, Scope.EACH, Scope.MEMBER)


class LimitForm(forms.Form):
    """One budget: whose, for how long, and whether it stops calls. Units: USD."""

    whose = forms.ChoiceField(label=gettext_lazy("Budget for"))
    model = forms.CharField(
        label=gettext_lazy("Model"),
        help_text=gettext_lazy("For the budget of a model, such as openai/gpt-5 or anthropic/*."),
        max_length=200,
        required=False,
    )
    period = forms.ChoiceField(
        label=gettext_lazy("Period"), choices=Period.choices, initial=Period.DAY
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("When reached"),
        choices=[
            ("hard", gettext_lazy("Refuse model calls (hard)")),
            ("soft", gettext_lazy("Only notify (soft)")),
        ],
    )
    amount = _amount(label=gettext_lazy("Amount"), help_text=gettext_lazy("In US dollars."))
    warn_percent = _warn_percent()

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        members: Sequence[Membership] = (),
        projects: Iterable[tuple[str, str]] = (),
        of_instance: bool = False,
    ) -> None:
        super().__init__(data, prefix="limit")
        self.fields["amount"].required = True
        field = self.fields["whose"]
        assert isinstance(field, forms.ChoiceField)
        if of_instance:
            del self.fields["whose"], self.fields["model"]
            return
        field.choices = [
            *((one.value, one.label) for one in _WHOSE),
            (_("Projects"), [(f"project:{key}", name) for key, name in projects]),
            (
                _("Members"),
                [(f"member:{row.user_id}", row.user.display_name) for row in members],
            ),
        ]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        whose = str(data.get("whose", "")).partition(":")[0]
        is_above = whose in _OF_MONTH and data.get("kind") == "hard"
        if is_above and data.get("period") == Period.MONTH:
            self.add_error("period", _("Set this budget above, under Limits or Members."))
        return data

    def to_limit(self) -> Limit:
        """Returns: which budget a valid form names."""
        data = self.cleaned_data
        kind, _colon, key = data.get("whose", Scope.INSTANCE.value).partition(":")
        return Limit(
            scope=Scope(kind),
            period=Period(data["period"]),
            is_soft=data["kind"] == "soft",
            user_id=int(key) if kind == Scope.MEMBER else None,
            project=key if kind == Scope.PROJECT else "",
            model=data.get("model", ""),
            warn_percent=data["warn_percent"],
        )


class MoreForm(forms.Form):
    """How much more of a budget somebody asks for, and why. Units: USD."""

    budget = forms.TypedChoiceField(label=gettext_lazy("Budget"), coerce=int)
    amount = _amount(
        label=gettext_lazy("Additional amount"),
        help_text=gettext_lazy("In US dollars, until the budget resets."),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=500, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, budgets: Iterable[tuple[int, str]], data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.fields["amount"].required = True
        field = self.fields["budget"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(budgets)


class AnswerForm(forms.Form):
    """What an admin grants, with a word to the asker. Units: USD."""

    amount = _amount(label=gettext_lazy("Amount"))
    answer = forms.CharField(label=gettext_lazy("Answer"), max_length=500, required=False)
    # Which of the two buttons sent it.
    act = forms.ChoiceField(choices=[("grant", ""), ("deny", "")], widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("act") == "grant" and data.get("amount") is None:
            self.add_error("amount", _("Enter an amount."))
        return data

    @property
    def grant(self) -> Decimal | None:
        """What a valid form grants; None denies."""
        data = self.cleaned_data
        return data["amount"] if data["act"] == "grant" else None
