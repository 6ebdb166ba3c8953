"""Make the pictures that a tool gives fit for providers."""

from __future__ import annotations

from dataclasses import replace

from opencode_web.lib.pictures import PICTURES, ImageLimits, fit_picture
from tools.base import Attachment


def fit_pictures(
    files: tuple[Attachment, ...], limits: ImageLimits
) -> tuple[tuple[Attachment, ...], int]:
    """Returns: the files with pictures that fit, and how many pictures had to be left out."""
    fitted = [_fit(file, limits) if file.mime in PICTURES else file for file in files]
    kept = tuple(file for file in fitted if file is not None)
    return kept, len(fitted) - len(kept)


def _fit(file: Attachment, limits: ImageLimits) -> Attachment | None:
    fitted = fit_picture(file.mime, file.url, limits)
    return None if fitted is None else replace(file, mime=fitted[0], url=fitted[1])
