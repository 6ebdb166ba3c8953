"""Find texts and runs of lines in a file as a model remembers them: exactly, then more tolerantly.

Pure, and bounded: a file and what is sought in it are hostile, so every search spends from one
budget (`search.Work`) and fails with `EditMatchError` when that is used up.

`search`      what is sought, and the file cut in lines; finding runs of equal lines; the budget
`lines`       lines that differ in their blanks, in the whitespace between words, or in escapes
`anchors`     blocks whose first and last line are right
"""

from __future__ import annotations
