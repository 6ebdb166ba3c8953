"""The order of names in listings, near to how people's locales sort. Pure.

Source: the root collation of Unicode (UTS #10) for ASCII; accents count after letters, and small
letters come before capitals.
"""

from __future__ import annotations

import unicodedata

_BEFORE_DIGITS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_RANKS = {char: rank for rank, char in enumerate(_BEFORE_DIGITS)}


def name_key(name: str) -> tuple[list[tuple[int, str]], str, str, str]:
    """Returns: what to sort names by: letters, then accents, then case, then the name itself."""
    decomposed = unicodedata.normalize("NFKD", name)
    base = [char for char in decomposed if not unicodedata.combining(char)]
    letters = "".join(base).casefold()
    ranks = [(_RANKS.get(char, len(_RANKS)), char) for char in letters]
    return ranks, decomposed.casefold(), "".join(base).swapcase(), name
