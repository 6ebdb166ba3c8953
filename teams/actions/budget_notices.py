from __future__ import annotations

from django.db import transaction

from teams.access import TeamAccess
from teams.budget_notices import find_passed, notices_of
from teams.models import BudgetNotice


@transaction.atomic
def note_budgets() -> int:
    """Keep that budgets have come near to their ends, once in a month for each threshold.

    Returns: how many are new. Those that somebody else notes meanwhile are left out.
    """
    return len(BudgetNotice.objects.bulk_create(find_passed(), ignore_conflicts=True))


@transaction.atomic
def put_away_notice(access: TeamAccess, notice: BudgetNotice) -> None:
    """Show the person neither this one any more, nor older ones of the same budget."""
    for one in notices_of(access).filter(user=notice.user_id, time__lte=notice.time):
        one.put_away_by.add(access.user)
