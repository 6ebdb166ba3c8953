from __future__ import annotations

import re

# What JavaScript's trim() removes: the models were trained against that program.
SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
WORD = re.compile(f"[^{SPACE}]+")


def with_line_ends(text: str, *, of: str) -> str:
    """Give `text` the line ends of another one, which has CRLF when there is any in it."""
    unix = text.replace("\r\n", "\n")
    return unix.replace("\n", "\r\n") if "\r\n" in of else unix
