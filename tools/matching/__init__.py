"""Find texts and runs of lines in a file as a model remembers them: exactly, then more tolerantly.

Pure, and bounded: a file and what is sought in it are hostile, so every search spends from one
budget (`work.Work`) and fails with `EditMatchError` when that is used up.

`search`      what is sought, and the file cut in lines; finding runs of equal lines
`lines`       lines that differ in their blanks: trimmed, indented otherwise, blank at the ends
`anchors`     blocks whose first and last line are right
`words`       the same words with other whitespace between them
`escapes`     backslashes that a model wrote where the file has the character
"""

from __future__ import annotations
