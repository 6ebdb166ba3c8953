"""Take a git URL that somebody typed apart: what may be kept, and what is secret. Pure."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid

_MAX_CHARS = 1000
# user@host:path, as git writes it for SSH.
_SCP_FORM = re.compile(r"(?P<user>[\w.-]+)@(?P<host>[\w.-]+):(?!//)(?P<path>[^\s]+)")
_HOST = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:-]*")


@dataclass(frozen=True)
class GitUrl:
    """`url` holds no secret. `credential` is `user:password` of HTTP, empty when none was given."""

    url: str
    credential: str = ""

    @property
    def name(self) -> str:
        """The last piece of the path: a name for the project."""
        path = unquote(urlsplit(self.url).path).rstrip("/")
        return path.rpartition("/")[2].removesuffix(".git") or "project"


def parse_git_url(text: str, *, protocols: tuple[str, ...]) -> GitUrl:
    """Raises: Invalid with a sentence that says what is wrong and how to write it."""
    text = text.strip()
    if scp := _SCP_FORM.fullmatch(text):
        text = f"ssh://{scp['user']}@{scp['host']}/{scp['path'].lstrip('/')}"
    if not text or len(text) > _MAX_CHARS or re.search(r"[\s\x00-\x1f\x7f\\]", text):
        raise Invalid(
            _("Enter the address of a Git repository, such as https://host/team/code.git.")
        )
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  # reading it is what checks it
    except ValueError as exc:
        raise Invalid(_("This is not the address of a Git repository.")) from exc
    is_folder = text.startswith(("/", "./", "../", "~")) or parts.scheme == "file"
    if is_folder and "file" not in protocols:
        raise Invalid(
            _(
                "This is a folder, not the address of a repository. To use a folder on this "
                "server, choose “From a folder on this server”."
            )
        )
    if parts.scheme not in protocols:
        known = ", ".join(f"{name}://" for name in protocols)
        raise Invalid(_("Only {names} addresses are supported.").format(names=known))
    if parts.query or parts.fragment:
        raise Invalid(_("The address must not contain a ? or #."))
    if parts.scheme != "file" and not _HOST.fullmatch(parts.hostname or ""):
        raise Invalid(_("The address has no host."))
    if not parts.path.strip("/"):
        raise Invalid(_("The address has a host but no repository."))
    return _split_credential(parts)


def _split_credential(parts: SplitResult) -> GitUrl:
    user, host = unquote(parts.username or ""), parts.netloc.rpartition("@")[2]
    if parts.scheme in {"http", "https"}:
        password = unquote(parts.password or "")
        credential = f"{user}:{password}" if user or password else ""
        return GitUrl(urlunsplit(parts._replace(netloc=host)), credential)
    if parts.password:
        raise Invalid(_("A password in the address only works with http and https."))
    if user.startswith("-") or re.search(r"[^\w.+-]", user):
        raise Invalid(_("The user name in the address is not valid."))
    netloc = f"{quote(user)}@{host}" if user else host
    return GitUrl(urlunsplit(parts._replace(netloc=netloc)))


def authorization(url: str, credential: str) -> dict[str, str]:
    """Returns: git settings that send the credential to this one site and no other.

    Not through an askpass program: that one would also answer a site that was redirected to.
    """
    parts = urlsplit(url)
    token = base64.b64encode(credential.encode()).decode()
    site = f"{parts.scheme}://{parts.netloc}/"
    return {f"http.{site}.extraHeader": f"Authorization: Basic {token}"}
