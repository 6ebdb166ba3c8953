from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from django import template
from django.conf import settings
from django.contrib.messages.storage.base import Message
from django.core.serializers.json import DjangoJSONEncoder
from django.forms import BaseForm, BoundField
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format, get_format, number_format
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

register = template.Library()

# Where lines of text go on, or where something is: mirrored in languages from right to left.
_POINTING = {
    *("arrow-left", "arrow-right", "chevron-left", "chevron-right", "external-link", "list-checks"),
    *("log-out", "panel-left", "panel-right", "scroll-text", "send"),
}
# A block of code in what somebody typed: its fence, the rest of that line, the code, the end.
_FENCED = re.compile(
    r"^(`{3,})([^`\n]*\n)(.*?)(^\1`*[ \t\r]*(?:\n|\Z)|\Z)", re.MULTILINE | re.DOTALL
)
# As many as the style sheet has colours for.
_HUES = 7
_MINUTE_S = 60
_HOUR_S = 60 * _MINUTE_S
_DAY_S = 24 * _HOUR_S


@register.simple_tag
def icon(name: str, *, label: str = "") -> SafeString:
    """An icon of the sprite. Without a label it is decoration and screen readers pass over it."""
    href = f"{static('icons.svg')}#{name}"
    css = "icon icon-points" if name in _POINTING else "icon"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="{}"></use></svg>',
            css,
            label,
            href,
        )
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"></use></svg>', css, href)


@register.simple_tag
def control(field: BoundField, takes_focus: object = False) -> SafeString:
    """The control of a field. A page begins in the first wrong one, else in what `takes_focus`."""
    wrong = next(iter(field.form.errors), "")
    is_first = field.name == wrong if wrong else bool(takes_focus)
    shown = field.as_widget(attrs={"autofocus": True} if is_first else None)
    # As `str(field)` does: what the page began with tells what was changed on it.
    return shown + field.as_hidden(only_initial=True) if field.field.show_hidden_initial else shown


@register.simple_tag(takes_context=True)
def heading_focus(context: template.RequestContext) -> SafeString | str:
    """Have a page begin in its heading, where nothing in it asks for the focus."""
    values: list[object] = [one for layer in context for one in layer.values()]
    has_wrong = any(isinstance(one, BaseForm) and bool(one.errors) for one in values)
    # Their button that undoes is the last thing on the page.
    messages: Iterable[Message] = context.get("messages") or ()
    has_undo = any(message.extra_tags for message in messages)
    return "" if has_wrong or has_undo else mark_safe(' tabindex="-1" autofocus')


@register.filter
def json_text(value: object) -> str:
    """JSON for an attribute, which the template escapes."""
    return json.dumps(value, cls=DjangoJSONEncoder)


@register.simple_tag
def base_path() -> str:
    """What addresses begin with that no route names; `url` has it already."""
    return str(settings.BASE_PATH)


@register.simple_tag
def whose_turn(state: str, text: str, *, for_admins: bool = False) -> SafeString | str:
    """The text of a state; one that waits for a person reads otherwise to who cannot answer.

    Fragments are rendered once for everybody, so the page shows the one of its role.
    """
    if state != "ask":
        return text
    both = '<span data-needs="{}">{}</span><span data-only="{}">{}</span>'
    if for_admins:
        return format_html(both, "admin", text, "below-admin", _("Waiting for an admin"))
    return format_html(both, "member", text, "viewer", _("Waiting for a member"))


@register.filter
def ago(moment: datetime | None) -> str:
    """Returns: the age in its largest unit, `now`, `4m`, `3h`, `2d`, or the date after a week."""
    if moment is None:
        return ""
    age_s = int((timezone.now() - moment).total_seconds())
    if age_s < _MINUTE_S:
        return _("now")
    if age_s < _HOUR_S:
        return _("{count}m").format(count=age_s // _MINUTE_S)
    if age_s < _DAY_S:
        return _("{count}h").format(count=age_s // _HOUR_S)
    if age_s < 7 * _DAY_S:
        return _("{count}d").format(count=age_s // _DAY_S)
    this_year = moment.year == timezone.now().year
    return date_format(moment, "MONTH_DAY_FORMAT" if this_year else "SHORT_DATE_FORMAT")


@register.filter
def local(moment: datetime | None, form: str = "DATETIME_FORMAT") -> SafeString | str:
    """A time in UTC, which `clock.js` shows in the zone of the reader; `H:i` is one of today."""
    if moment is None:
        return ""
    kind = "" if form.startswith("H:i") else "medium"
    text = f"{date_format(moment, form)} UTC"
    html = '<time datetime="{}" data-local-time="{}">{}</time>'
    return format_html(html, moment.isoformat(), kind, text)


@register.filter
def duration(seconds: float | None) -> str:
    """Returns: `0.1 s`, `27 s`, `2 m 05 s` or `1 h 04 m`; nothing for None."""
    if seconds is None:
        return ""
    # From 9.95 on the tenths would round to "10.0 s".
    if seconds < 9.95:
        return f"{number_format(max(seconds, 0.1), 1)} s"
    whole = round(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return _("{m} m {s} s").format(m=whole // _MINUTE_S, s=f"{whole % _MINUTE_S:02d}")
    rest = f"{whole % _HOUR_S // _MINUTE_S:02d}"
    return _("{h} h {m} m").format(h=whole // _HOUR_S, m=rest)


@register.filter
def tokens(count: int | None) -> str:
    """Returns: `950`, `1.2k`, `48k` or `1.3M`; nothing for None."""
    if count is None:
        return ""
    if count < 1_000:
        return str(count)
    # From 999,500 on the thousands would round to "1000k".
    if count < 999_500:
        return _("{count}k").format(count=_short(count / 1_000))
    return _("{count}M").format(count=_short(count / 1_000_000))


@register.filter
def guessed(figure: object, is_guess: bool) -> object:
    """Returns: the figure, marked when it is an estimate."""
    return f"~{figure}" if is_guess else figure


@register.filter
def band(percent: int) -> str:
    """Returns: how full something is: empty below a half, `half`, `high`, or `full` from 90 on."""
    if percent < 50:
        return ""
    return "half" if percent < 75 else "high" if percent < 90 else "full"


def _short(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0") if value < 9.95 else f"{value:.0f}"
    return text.replace(".", get_format("DECIMAL_SEPARATOR"))


@register.filter
def money(amount: Decimal | None, *, short: bool = False) -> str:
    """Returns: US dollars with two digits, below a dime with the digits that say something.

    As the language writes them. `short`: whole dollars without cents.
    """
    if amount is None:
        return ""
    size = abs(amount)
    if 0 < size < Decimal("0.0001"):
        return f"<{_dollars(Decimal('0.0001'))}"
    digits = Decimal("0.0001") if size < Decimal("0.1") else Decimal("0.01")
    size = size.quantize(digits, rounding=ROUND_HALF_UP)
    if size == 0 or (short and size == size.to_integral_value()):
        size = size.to_integral_value()
    elif size.normalize().as_tuple().exponent > -2:  # type: ignore[operator]  # it is finite
        size = size.quantize(Decimal("0.01"))
    else:
        size = size.normalize()
    return f"-{_dollars(size)}" if amount < 0 else _dollars(size)


def _dollars(amount: Decimal) -> str:
    number = number_format(amount, force_grouping=True)
    return pgettext("US dollars", "$%(amount)s") % {"amount": number}


def ordinal(number: int) -> str:
    """Returns: `1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`, as the language writes them."""
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    if last == 1:
        return _("{count}st").format(count=number)
    if last == 2:
        return _("{count}nd").format(count=number)
    if last == 3:
        return _("{count}rd").format(count=number)
    return _("{count}th").format(count=number)


@register.filter
def initials(name: str) -> str:
    """Returns: one or two capital letters for an avatar; `?` for an empty name."""
    words = name.replace("@", " ").replace(".", " ").split()
    if not words:
        return "?"
    letters = words[0][0] + (words[-1][0] if len(words) > 1 else "")
    return letters.upper()


@register.filter
def hue(person: int) -> int:
    """Returns: which colour the avatar of this id has; neighbours have different ones."""
    return person % _HUES


@register.filter
def fenced(text: str, mentions: Mapping[str, str] | None = None) -> SafeString:
    """Typed text with its fenced code as code. The fences stay, hidden: what is copied is whole.

    `mentions`: the address of each name that stands after an `@`; empty for one without a page.
    """
    mentions = mentions or {}
    html = '{}<span hidden>{}</span><code class="prompt-code">{}</code><span hidden>{}</span>'
    pieces = []
    end = 0
    for found in _FENCED.finditer(text):
        fence, info, code, close = found.groups()
        before = _with_links(text[end : found.start()], mentions)
        pieces.append((before, fence + info, code, close))
        end = found.end()
    return format_html_join("", html, pieces) + _with_links(text[end:], mentions)


def _with_links(text: str, mentions: Mapping[str, str]) -> SafeString:
    if not mentions:
        return conditional_escape(text)
    names = "|".join(re.escape(name) for name in sorted(mentions, key=len, reverse=True))
    pieces = re.split(rf"(?<![\w`])@({names})(?![\w/])", text)
    words = [conditional_escape(pieces[0])]
    for name, rest in zip(pieces[1::2], pieces[2::2], strict=True):
        words += [_mention(name, mentions[name]), conditional_escape(rest)]
    return format_html_join("", "{}", ((word,) for word in words))


def _mention(name: str, url: str) -> SafeString:
    if not url:
        return format_html('<span class="prompt-mention">@{}</span>', name)
    link = '<a class="prompt-mention" href="{}">@{}</a>'
    if "panel=files" in url:
        link = '<a class="prompt-mention" href="{}" data-panel-tab="files">@{}</a>'
    return format_html(link, url, name)
