"""In which language people read. What is stored, logged, sent by the API or to a model is English.

So nothing but pages, and what is pushed into them, chooses one; everything else runs in English.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

P = ParamSpec("P")
T = TypeVar("T")


def is_offered(language: str) -> bool:
    """Whether pages can be read in it."""
    return language in dict(settings.LANGUAGES)


def is_translated(language: str) -> bool:
    """Whether it has a catalogue: English does not, nor does the one for trying the layout."""
    return any((Path(folder) / language).is_dir() for folder in settings.LOCALE_PATHS)


def language_of(request: HttpRequest, *, preferred: str = "") -> str:
    """Returns: the preferred language, or the best of those that the browser asks for."""
    if is_offered(preferred):
        return preferred
    return translation.get_language_from_request(request)


def in_language(language: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Returns: what the function does. Texts that it translates are in this language."""
    with translation.override(language if is_offered(language) else settings.LANGUAGE_CODE):
        return fn(*args, **kwargs)
