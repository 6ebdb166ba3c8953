from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.outbound import FetchError, check_url
from sessions.cron_times import zone_names
from sessions.models import NotificationKind
from sessions.notifications.addressing import choice_for
from sessions.notifications.channels.base import Channel
from sessions.notifications.choices import ChannelChoice, Choices
from sessions.notifications.push_crypto import AUTH_BYTES, from_base64url, read_public
from teams.models import NOTICES, SOUNDS, User

_NOW, _DAILY = "now", "daily"
_WHEN = [(_NOW, _("At once")), (_DAILY, _("Daily digest"))]


@dataclass(frozen=True)
class Cell:
    """A column's box for one kind; None where there is none."""

    column: str
    field: forms.BoundField | None


def _box(kind: NotificationKind, column: object) -> forms.BooleanField:
    # Beside a box is no text of its own: row and column say what it is, and this to who only hears.
    spoken = format_lazy("{}: {}", kind.label, column)
    widget = forms.CheckboxInput(attrs={"aria-label": spoken})
    return forms.BooleanField(required=False, widget=widget)


def _time(label: Any, **more: Any) -> forms.TimeField:  # lazy texts, as the field takes them
    widget = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    return forms.TimeField(label=label, input_formats=["%H:%M"], widget=widget, **more)


class NotificationsForm(forms.Form):
    """What a person is told of, where and when. A column of boxes for open pages, for their sounds
    and for each of `channels`, a row for each kind."""

    zone = forms.ChoiceField(label=_("Time zone"))
    quiet_from = _time(
        _("Quiet from"),
        required=False,
        help_text=_("Messages are held back, and sent as one at the end."),
    )
    quiet_until = _time(_("Quiet until"), required=False)
    digest_at = _time(_("Daily digest at"))

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, user: User, channels: Sequence[Channel]
    ) -> None:
        self._before = choices = Choices.of(user)
        self._channels = channels
        initial: dict[str, Any] = {
            "zone": choices.zone or "UTC",
            "quiet_from": choices.quiet_from,
            "quiet_until": choices.quiet_until,
            "digest_at": choices.digest_at,
        }
        initial |= dict.fromkeys(user.notified_kinds.replace("-", "_").split(), True)
        super().__init__(data, initial=initial)
        # The browser's own, until one is chosen.
        if not choices.zone and data is None:
            self.fields["zone"].widget.attrs["data-own-zone"] = ""
        zones = sorted(zone_names(), key=lambda name: (name != "UTC", name))
        self.fields["zone"].choices = [(name, name) for name in zones]  # type: ignore[attr-defined]
        for kind in NotificationKind:
            if kind.value in NOTICES:
                self.fields[kind.value] = _box(kind, _("open pages"))
                self.fields[f"sound_{kind.value}"] = _box(kind, _("sound"))
        for channel in channels:
            self._add(channel, choice_for(choices, channel))

    def _add(self, channel: Channel, choice: ChannelChoice) -> None:
        for kind in NotificationKind:
            name = f"{channel.name}_{kind.value}"
            self.fields[name] = _box(kind, channel.label)
            self.initial[name] = kind in choice.kinds
        when = forms.ChoiceField(label=str(channel.label), choices=_WHEN)
        self.fields[f"{channel.name}_when"] = when
        self.initial[f"{channel.name}_when"] = _DAILY if choice.is_daily else _NOW

    def clean(self) -> dict[str, Any]:
        """Raises: ValidationError for quiet hours of which one end is missing."""
        data: dict[str, Any] = super().clean() or {}
        for name, other in (("quiet_from", "quiet_until"), ("quiet_until", "quiet_from")):
            if data.get(other) and data.get(name) is None and name not in self.errors:
                self.add_error(name, gettext("Enter a time, or leave both empty."))
        return data

    @property
    def columns(self) -> list[str]:
        own = [gettext("Open pages"), gettext("Sound")]
        return own + [str(channel.label) for channel in self._channels]

    def rows(self) -> list[tuple[str, list[Cell]]]:
        """Returns: for each kind what it is called and its boxes, in the order of the columns."""
        found = []
        for kind in NotificationKind:
            names = [kind.value, f"sound_{kind.value}"]
            names += [f"{channel.name}_{kind.value}" for channel in self._channels]
            cells = [
                Cell(column, self[name] if name in self.fields else None)
                for column, name in zip(self.columns, names, strict=True)
            ]
            found.append((str(kind.label), cells))
        return found

    def whens(self) -> list[forms.BoundField]:
        return [self[f"{channel.name}_when"] for channel in self._channels]

    def of_pages(self) -> dict[str, bool]:
        """Returns: by kind whether open pages tell of it, and with a sound."""
        return {name: self.cleaned_data[name] for name in (*NOTICES, *SOUNDS)}

    def choices(self) -> Choices:
        """Returns: the rest, with what was chosen of channels that are not on the page now."""
        data = self.cleaned_data
        chosen = {
            channel.name: ChannelChoice(
                frozenset(
                    kind for kind in NotificationKind if data[f"{channel.name}_{kind.value}"]
                ),
                is_daily=data[f"{channel.name}_when"] == _DAILY,
            )
            for channel in self._channels
        }
        return Choices(
            channels={**self._before.channels, **chosen},
            zone=data["zone"],
            quiet_from=data["quiet_from"],
            quiet_until=data["quiet_until"],
            digest_at=data["digest_at"],
        )


class SubscriptionForm(forms.Form):
    """What a browser's push manager gives to it."""

    endpoint = forms.CharField(max_length=1000, widget=forms.HiddenInput)
    p256dh = forms.CharField(max_length=100, widget=forms.HiddenInput)
    auth = forms.CharField(max_length=40, widget=forms.HiddenInput)

    def clean_endpoint(self) -> str:
        """Whether the address is a public one is found out whenever something is sent."""
        try:
            url = check_url(self.cleaned_data["endpoint"])
        except FetchError as exc:
            raise forms.ValidationError(str(exc)) from exc
        if urlsplit(url).scheme != "https":
            raise forms.ValidationError(gettext("A push service must have an https address."))
        return url

    def clean_p256dh(self) -> str:
        try:
            read_public(self.cleaned_data["p256dh"])
        except ValueError as exc:
            raise forms.ValidationError(gettext("The browser's key is not valid.")) from exc
        return str(self.cleaned_data["p256dh"])

    def clean_auth(self) -> str:
        try:
            is_whole = len(from_base64url(self.cleaned_data["auth"])) == AUTH_BYTES
        except ValueError:
            is_whole = False
        if not is_whole:
            raise forms.ValidationError(gettext("The browser's key is not valid."))
        return str(self.cleaned_data["auth"])
