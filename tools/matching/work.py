from __future__ import annotations

# One unit is about a nanosecond of one core: comparing a character or two.
BUDGET = 300_000_000
# What looking at one line in Python costs beside its characters.
PER_LINE = 400
# Of cutting out a candidate and looking where it stands.
PER_BLOCK = 2_000


class EditMatchError(ValueError):
    """The text cannot be found or replaced; the message tells the model why."""


class TooMuchWork(EditMatchError):
    """The budget is used up before anything was decided."""


class Work:
    """How much more may be compared. Counted, not timed: the same call always ends the same."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._left = budget

    def spend(self, units: int) -> None:
        """Raises: TooMuchWork when the budget is used up."""
        self._left -= units
        if self._left < 0:
            raise TooMuchWork(
                "The text was not found as it stands, and the file is too repetitive to look for "
                "something similar. Read the place again and copy the lines exactly."
            )
