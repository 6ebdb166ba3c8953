"""Keys in what somebody is about to send: they choose before anything of it is stored."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.errors import Invalid
from sessions.access import ProjectAccess
from sessions.actions.hidden_keys import allow_keys
from sessions.forms.attached import attached_texts
from sessions.secrets import keys_in
from teams.http import client_ip

FIELD = "keys"
_SHOWN_CHARS = 8
# The kinds of `lib.known_keys`, for the catalogues.
KINDS = (
    *(gettext_noop("private key"), gettext_noop("AWS key"), gettext_noop("GitHub token")),
    *(gettext_noop("GitLab token"), gettext_noop("Slack token"), gettext_noop("Slack address")),
    *(gettext_noop("Stripe key"), gettext_noop("Anthropic key"), gettext_noop("OpenAI key")),
    *(gettext_noop("model provider key"), gettext_noop("Google key")),
    *(gettext_noop("Google token"), gettext_noop("signed token"), gettext_noop("package token")),
    *(gettext_noop("cloud token"), gettext_noop("token of this server")),
    *(gettext_noop("password in a URL"), gettext_noop("authorization header")),
    gettext_noop("value of a variable"),
)


def settle_keys(request: HttpRequest, access: ProjectAccess) -> None:
    """Let a message pass that has no keys, nor text files that do, or whose writer has said what is
    to become of them.

    Raises: Invalid naming them in `keys`, for the composer to ask.
    """
    files = attached_texts(request.FILES.getlist("files"))
    # No key goes on behind the character between them.
    text = "\0".join([request.POST.get("text", ""), *files])
    match request.POST.get(FIELD):
        case "hide":
            return
        case "show":
            allow_keys(access, text, ip=client_ip(request))
            return
    if found := keys_in(access.project, text):
        shown = [one.mark or f"{_(one.kind)}: {one.value[:_SHOWN_CHARS]}…" for one in found]
        raise Invalid(_("The message contains a key."), field=FIELD, keys=[*shown])
