"""Which browser and system a `User-Agent` header names. It is a claim, only good for a label."""

from __future__ import annotations

# The first that is found counts: most headers also name what the browser descends from.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def browser_of(user_agent: str) -> str:
    """Returns: the browser's name, empty for one that is not known here."""
    return next((name for mark, name in _BROWSERS if mark in user_agent), "")


def system_of(user_agent: str) -> str:
    """Returns: the system's name, empty for one that is not known here."""
    return next((name for mark, name in _SYSTEMS if mark in user_agent), "")
