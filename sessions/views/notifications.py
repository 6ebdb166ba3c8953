from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.loop import submit
from sessions.actions.notifications import (
    remove_own_webhook,
    rotate_own_secret,
    save_own_webhook,
    subscribe_browser,
    unsubscribe_browser,
)
from sessions.forms.notifications import NotificationsForm, SubscriptionForm
from sessions.forms.webhooks import ReceiverForm
from sessions.models import PushSubscription
from sessions.notifications.channels.base import Channel
from sessions.notifications.channels.push import PushChannel
from sessions.notifications.channels.registry import CHANNELS
from sessions.notifications.channels.webhook import own_webhook, send_test
from sessions.notifications.choices import KEY
from sessions.notifications.push_key import load_key
from sessions.present.pages.webhooks import problem_text
from teams.actions.browsers import browsers_of
from teams.actions.tastes import remember_taste
from teams.browser import BrowserSession
from teams.http import UserRequest, attempt, done, show, user_view
from teams.models import User
from teams.views.devices import name_of


@require_http_methods(["GET", "POST"])
@never_cache
@user_view
def notifications(request: UserRequest) -> HttpResponse:
    """What somebody is told of, where and when."""
    user = request.user
    if request.method != "POST":
        return _show(request)
    form = NotificationsForm(request.POST, user=user, channels=_channels(user))
    if not form.is_valid():
        return _show(request, form=form, status=422)
    for name, is_on in form.of_pages().items():
        user = remember_taste(user, key=f"notify_{name}", value=is_on)
    remember_taste(user, key=KEY, value=form.choices().to_json())
    return done(request, _("Saved."), to=reverse("own_notifications"))


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


@require_POST
@never_cache
@user_view
def webhook(request: UserRequest) -> HttpResponse:
    """Set the address of the person's webhook. The page shows the secret of a new one."""
    form = ReceiverForm(request.POST)
    secret = attempt(form, lambda: save_own_webhook(request.user, **form.cleaned_data))
    if secret is None:
        return _show(request, webhook_form=form, status=422)
    if not secret:
        return done(request, _("Webhook saved."), to=reverse("own_notifications"))
    # Not by redirect: the secret would have to wait in a cookie or in the database meanwhile.
    return _show(request, secret=secret)


@require_POST
@never_cache
@user_view
def webhook_secret(request: UserRequest) -> HttpResponse:
    return _show(request, secret=rotate_own_secret(request.user))


@require_POST
@never_cache
@user_view
def webhook_test(request: UserRequest) -> HttpResponse:
    """Send something to the webhook at once, and say how that went."""
    result = submit(send_test(request.user)).result()
    if result is None:
        raise NotFound("Webhook")
    if not result.problem:
        said = _("The test has arrived: the server responded with status %(status)d.")
        return done(request, said % {"status": result.status}, to=reverse("own_notifications"))
    return _show(request, problem=problem_text(result.status, result.problem))


@require_POST
@user_view
def webhook_remove(request: UserRequest) -> HttpResponse:
    remove_own_webhook(request.user)
    return done(request, _("Webhook deleted."), to=reverse("own_notifications"))


def _channels(user: User) -> list[Channel]:
    return [one for one in CHANNELS if not one.unavailable(user)]


def _show(
    request: UserRequest,
    *,
    form: NotificationsForm | None = None,
    webhook_form: ReceiverForm | None = None,
    secret: str = "",
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    user, hook = request.user, own_webhook(request.user)
    missing = [(one.label, one.unavailable(user)) for one in CHANNELS]
    channels = [one for one, (_, why) in zip(CHANNELS, missing, strict=True) if not why]
    context: dict[str, object] = {
        "form": form or NotificationsForm(user=user, channels=channels),
        "missing": [(label, why) for label, why in missing if why],
        "webhook": hook,
        "webhook_form": webhook_form or ReceiverForm(initial={"url": hook.url if hook else ""}),
        "secret": secret,
        "problem": problem,
        **(_push(request) if any(one.name == PushChannel.name for one in channels) else {}),
    }
    template = ("sessions/notifications.html", "sessions/_notifications.html")
    return show(request, *template, context, status=status)


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
