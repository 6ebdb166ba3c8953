from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid
from sessions.actions.notifications import subscribe_browser, unsubscribe_browser
from sessions.forms.notifications import NotificationsForm, SubscriptionForm
from sessions.models import PushSubscription
from sessions.notifications.channels.push import PushChannel
from sessions.notifications.channels.registry import CHANNELS
from sessions.notifications.choices import KEY
from sessions.notifications.push_key import load_key
from teams.actions.browsers import browsers_of
from teams.actions.tastes import remember_taste
from teams.browser import BrowserSession
from teams.http import UserRequest, done, show, user_view
from teams.models import User
from teams.views.devices import name_of


@require_http_methods(["GET", "POST"])
@never_cache
@user_view
def notifications(request: UserRequest) -> HttpResponse:
    """What somebody is told of, where and when."""
    user = request.user
    missing = [(one.label, one.unavailable(user)) for one in CHANNELS]
    channels = [one for one, (_, why) in zip(CHANNELS, missing, strict=True) if not why]
    sent = request.POST if request.method == "POST" else None
    form = NotificationsForm(sent, user=user, channels=channels)
    if form.is_valid():
        for name, is_on in form.of_pages().items():
            user = remember_taste(user, key=f"notify_{name}", value=is_on)
        remember_taste(user, key=KEY, value=form.choices().to_json())
        return done(request, _("Saved."), to=reverse("own_notifications"))
    context: dict[str, object] = {
        "form": form,
        "missing": [(label, why) for label, why in missing if why],
        **(_push(request) if any(one.name == PushChannel.name for one in channels) else {}),
    }
    template = ("sessions/notifications.html", "sessions/_notifications.html")
    return show(request, *template, context, status=422 if form.errors else 200)


@require_POST
@user_view
def push(request: UserRequest) -> HttpResponse:
    """Subscribe the browser in hand."""
    form = SubscriptionForm(request.POST)
    if not form.is_valid():
        raise Invalid(str(next(iter(form.errors.values()))[0]))
    subscribe_browser(request.user, BrowserSession.of(request.session), **form.cleaned_data)
    said = _("This browser gets Web Push from now on.")
    return done(request, said, to=reverse("own_notifications"))


@require_POST
@user_view
def push_remove(request: UserRequest, subscription: int) -> HttpResponse:
    row = unsubscribe_browser(request.user, subscription)
    said = _("%(browser)s gets no Web Push any more.") % {"browser": name_of(row.browser)}
    return done(request, said, to=reverse("own_notifications"))


def _push(request: UserRequest) -> dict[str, object]:
    here = request.session.session_key
    browsers = [
        (row, name_of(row.browser), row.browser.session_key == here)
        for row in _subscribed(request.user)
    ]
    return {
        "push_form": SubscriptionForm(auto_id=False),
        "push_key": load_key().public,
        "browsers": browsers,
        "is_subscribed": any(is_this for _, _, is_this in browsers),
    }


def _subscribed(user: User) -> list[PushSubscription]:
    """Returns: those whose browsers are still signed in, the one that was used last first."""
    live = browsers_of(user)
    rows = PushSubscription.objects.filter(browser__in=live).select_related("browser")
    return sorted(rows, key=lambda row: row.browser.last_seen_at, reverse=True)
