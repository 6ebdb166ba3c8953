from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.errors import NotFound, Unauthorized, Unavailable
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, object_of, text_of
from opencode_web.lib.text import clean_text
from sessions.forges.adapter import ForgeError, ForgeKind
from sessions.forges.inbound import Heard, event_of, is_signed, number_in, read_body
from sessions.forges.triggers import Trigger
from sessions.integrations.github_app import note_event
from sessions.integrations.matching import is_own_check, rule_for
from sessions.integrations.systems import ForgeSystem, system_of
from sessions.models import GitHubApp, InboundDelivery, Integration
from sessions.publish_settings import Publishing, publishing_of_each

State = InboundDelivery.State
_UNREADABLE = "The secret cannot be read with this server's SECRET_KEY."
# How long deliveries are known by.
OLDEST = timedelta(days=14)
# In each comment of ours, whoever's token has written it.
REPLY_MARK = re.compile(r"<!-- rep_[0-9a-zA-Z]{26} -->")


def receive(integration_id: str, headers: Mapping[str, str], body: bytes) -> InboundDelivery:
    """Keep what an outside system sends. The same once more changes nothing.

    `headers` have names in lower case. Returns: the row of it.
    Raises: NotFound; Unauthorized for a wrong or old signature; Invalid for what is no delivery;
    Unavailable where the secret, or what else it needs, cannot be read.
    """
    rows = Integration.objects.select_related("project__team")
    row = rows.filter(pk=integration_id, project__isnull=False).first()
    # Without a secret anybody could sign.
    if row is None or not row.secret:
        raise NotFound("Integration", integration_id)
    try:
        system = system_of(row)
    except ForgeError as exc:
        raise Unavailable(_UNREADABLE) from exc
    require_signed(row, row.secret, system.is_signed, headers, body)
    event, heard = system.read(headers, read_body(body))
    return _keep(row, system.path, event, heard, hashlib.sha256(body).hexdigest())


def receive_for_app(app_id: str, headers: Mapping[str, str], body: bytes) -> list[InboundDelivery]:
    """As `receive`, of a GitHub App: for the projects of the repository that it is about."""
    app = GitHubApp.objects.filter(pk=app_id).first()
    if app is None:
        raise NotFound("GitHub App", app_id)
    kind = ForgeKind.GITHUB
    require_signed(app, app.webhook_secret, partial(is_signed, kind), headers, body)
    sent = read_body(body)
    installation = object_of(sent, "installation")
    if note_event(app, event_of(kind, headers), sent) or not installation:
        return []
    installations = app.installations.filter(
        number=number_in(installation, "id"),
        repository=text_of(object_of(sent, "repository"), "full_name").lower(),
    )
    rows = Integration.objects.filter(project__github_installation__in=installations, kind=kind)
    rows = rows.filter(project__team=app.team_id).select_related("project__team").order_by("pk")
    published = publishing_of_each([row.project for row in rows])
    if not published:
        return []
    event, heard = ForgeSystem(kind, Publishing()).read(headers, sent)
    digest = hashlib.sha256(body).hexdigest()
    return [_keep(row, published[row.project.pk].path, event, heard, digest) for row in rows]


def require_signed(
    row: Integration | GitHubApp,
    sealed: str,
    signed: Callable[..., bool],
    headers: Mapping[str, str],
    body: bytes,
) -> None:
    """Count signatures that are wrong. Raises: Unauthorized; Unavailable."""
    rows = type(row)._default_manager.filter(pk=row.pk)
    try:
        secret = decrypt(sealed)
    except DecryptionError as exc:
        raise Unavailable(_UNREADABLE) from exc
    if not signed(headers, body, secret=secret):
        rows.update(refused=F("refused") + 1)
        raise Unauthorized("The signature of the delivery is wrong or too old.")
    if row.refused:
        rows.update(refused=0)


@transaction.atomic
def _keep(
    row: Integration, path: str, event: str, heard: Heard | None, digest: str
) -> InboundDelivery:
    """`path` is what `Heard.repository` is for what concerns the project."""
    now = timezone.now()
    if heard is not None and heard.has_all_labels:
        heard = _with_new_labels(row, heard)
    why = _why_ignored(row, path, heard)
    fields = {
        "id": new_id("ind"),
        "event": clean_text(event),
        "state": State.IGNORED if why else State.WAITING,
        "problem": why,
        "next_at": now,
        "received_at": now,
    }
    if heard is not None:
        fields |= {"thread": str(heard.thread), "author": heard.author, "comment": heard.comment}
        fields["heard"] = kept_of(asdict(heard)) if why else asdict(heard)
        if not heard.thread.number:
            # The thread of a check that does not say it is looked for when it is handled.
            fields["thread"] = ""
    known = row.deliveries.filter(digest=digest)
    if heard is not None and heard.comment:
        known |= _same(row, heard)
    kept = known.first()
    if kept is None:
        kept, _ = row.deliveries.get_or_create(digest=digest, defaults=fields)
    elif kept.state == State.IGNORED and not why and kept.digest == digest:
        # An admin has mended meanwhile what it was ignored for, and had it sent again.
        row.deliveries.filter(pk=kept.pk, state=State.IGNORED).update(
            state=State.WAITING, problem="", heard=fields["heard"], next_at=now
        )
        kept.refresh_from_db()
    return kept


def _same(row: Integration, heard: Heard) -> QuerySet[InboundDelivery]:
    """Returns: what has told of the same before."""
    if not heard.trigger:
        return row.deliveries.filter(thread=str(heard.thread), comment=heard.comment)
    # What was of no use once, is perhaps of use now; and a check says its thread or not.
    rows = row.deliveries.filter(comment=heard.comment).exclude(state=State.IGNORED)
    is_check = heard.trigger == Trigger.CHECK_FAILED
    return rows if is_check else rows.filter(thread=str(heard.thread))


def _with_new_labels(row: Integration, heard: Heard) -> Heard:
    """Gitea says which labels there are now: the new ones are those that it has not said before."""
    rows = row.deliveries.filter(thread=str(heard.thread), heard__has_all_labels=True)
    before = rows.order_by("-pk").values_list("heard__all_labels", flat=True).first() or []
    new = [label for label in heard.labels if label not in before]
    return replace(heard, labels=new, all_labels=heard.labels)


def kept_of(heard: JsonObject) -> JsonObject:
    """Returns: what stays of it once it is over: which labels a thread has."""
    names = ("has_all_labels", "all_labels")
    return {name: heard[name] for name in names} if heard.get("has_all_labels") else {}


def _why_ignored(row: Integration, path: str, heard: Heard | None) -> str:
    """Returns: a sentence, or nothing for what has to be handled."""
    if heard is None:
        return "It is nothing that sessions are started for."
    if heard.at and timezone.now().timestamp() - heard.at > OLDEST.total_seconds():
        # Those that came long ago are not known any more, and would be handled again.
        return f"It is older than {OLDEST.days} days."
    if heard.repository.lower() != path.lower():
        what = "team" if row.is_tracker else "repository"
        return f"It is about another {what} than the project's."
    return _why_not_wanted(row, heard)


def _why_not_wanted(row: Integration, heard: Heard) -> str:
    """As `_why_ignored`, of what is of the project."""
    if REPLY_MARK.search(heard.text):
        return "It was written by this server."
    if heard.trigger in ("", Trigger.REVIEW_COMMENT):
        is_asked = command_in(heard.text, row.command) is not None
        return "" if is_asked else f"It does not begin with {row.command}."
    if heard.trigger == Trigger.CHECK_FAILED and is_own_check(heard):
        return "It is a check of this server."
    return "" if rule_for(row, heard) else "No rule of the project is about this."


def command_in(text: str, command: str) -> str | None:
    """Returns: what follows the command at the beginning of a comment; None without it."""
    word, _, rest = text.strip().partition("\n")
    first, _, line = word.partition(" ")
    if first.strip().lower() != command.lower():
        return None
    return f"{line.strip()}\n{rest}".strip()
