"""What the result of a call may be, as the settings of a team and project have it."""

from __future__ import annotations

from dataclasses import dataclass

from tools.truncate import MAX_BYTES, MAX_LINES


@dataclass(frozen=True)
class ImageLimits:
    """Pictures above these are made smaller, or left out without `auto_resize`. Units: pixels, and
    characters of base64. Source of the figures: OpenCode 1.18."""

    auto_resize: bool = True
    max_width: int = 2_000
    max_height: int = 2_000
    max_base64_bytes: int = 5_242_880


@dataclass(frozen=True)
class ResultLimits:
    """`delegates`: whether this call's agent may give work to the explore agent."""

    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES
    delegates: bool = False
    image: ImageLimits = ImageLimits()
