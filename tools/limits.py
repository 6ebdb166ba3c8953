"""What the result of a call may be, as the settings of a team and project have it."""

from __future__ import annotations

from dataclasses import dataclass, field

from opencode_web.lib.pictures import ImageLimits
from tools.truncate import MAX_BYTES, MAX_LINES


@dataclass(frozen=True)
class ResultLimits:
    """`delegates`: whether this call's agent may give work to the explore agent."""

    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES
    delegates: bool = False
    image: ImageLimits = field(default_factory=ImageLimits)
