"""The browsers in which somebody is signed in, to sign them out from here."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from teams.actions.browsers import browsers_of, is_browser, sign_out_browser, sign_out_others
from teams.browser import BrowserSession
from teams.http import UserRequest, client_ip, done, user_view

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


@dataclass(frozen=True)
class Device:
    """A line of the page."""

    row: UserSession
    is_this: bool

    @property
    def name(self) -> str:
        return name_of(self.row)


def name_of(row: UserSession) -> str:
    """Returns: browser and system, as far as the browser says them."""
    browser, system = browser_of(row.user_agent), system_of(row.user_agent)
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or _("Unknown browser")


@require_GET
@never_cache
@user_view
def devices(request: UserRequest) -> HttpResponse:
    here = request.session.session_key
    rows = [Device(row, row.session_key == here) for row in browsers_of(request.user)]
    # The one in hand first, however long it has only been looked at.
    rows.sort(key=lambda device: not device.is_this)
    return render(request, "teams/devices.html", {"devices": rows})


@require_POST
@user_view
def device(request: UserRequest, *, device: int) -> HttpResponse:
    here = BrowserSession.of(request.session)
    if here is not None and is_browser(request.user, here, browser=device):
        get_adapter(request).logout(request)
        return redirect("account_login")
    ended = sign_out_browser(request.user, browser=device, ip=client_ip(request))
    text = _("Signed out %(browser)s.") % {"browser": name_of(ended)}
    return done(request, text, to=reverse("me:devices"))


@require_POST
@user_view
def devices_others(request: UserRequest) -> HttpResponse:
    here = BrowserSession.of(request.session)
    number = sign_out_others(request.user, keep=here, ip=client_ip(request))
    text = ngettext(
        "Signed out %(number)s other browser.",
        "Signed out %(number)s other browsers.",
        number,
    )
    return done(request, text % {"number": number}, to=reverse("me:devices"))


def browser_of(user_agent: str) -> str:
    """Returns: the browser's name, empty for one that is not known here."""
    return next((name for mark, name in _BROWSERS if mark in user_agent), "")


def system_of(user_agent: str) -> str:
    """Returns: the system's name, empty for one that is not known here."""
    return next((name for mark, name in _SYSTEMS if mark in user_agent), "")
