"""What git says when a clone fails, as a sentence that says what to do. Pure."""

from __future__ import annotations

import re

from django.utils.translation import gettext_noop

_AUTHENTICATION = gettext_noop(
    "The repository requires a sign-in. Enter an address with a user name and an "
    "access token, such as https://name:token@host/team/code.git. The token is used "
    "once and not stored."
)
_REFUSED = gettext_noop("The repository rejected this user name and access token.")
_NOT_FOUND = gettext_noop(
    "There is no repository at this address, or it is private and needs an access token."
)
_REDIRECT = gettext_noop(
    "The host redirects to another address, and redirects are not followed. Enter the "
    "final address as shown on its website. Many hosts require .git at the end."
)
_SSH_KEY = gettext_noop(
    "The host rejected this server's SSH key. Ask an operator to set GIT_SSH_KEY, or "
    "use an https address with an access token."
)
# Said of every failure before the other side has answered as git does, for the same reason as
# `outbound.NO_ANSWER`.
UNREACHED = gettext_noop(
    "The host did not respond as a Git server, or it is at a private address that an "
    "operator has to allow."
)

# First match wins. The wording is git's, curl's and OpenSSH's own in the C locale.
_TABLE: tuple[tuple[str, str], ...] = (
    (
        r"no space left on device|disk quota exceeded",
        gettext_noop("The disk of this server is full."),
    ),
    (
        r"host key verification failed",
        gettext_noop(
            "The host's SSH key has changed since the last time. An operator has to check it."
        ),
    ),
    (r"permission denied \((publickey|password)|load key ", _SSH_KEY),
    # What a git:// server says of a repository it lacks; that protocol knows no sign-in.
    (
        r"repository not exported",
        gettext_noop("There is no repository at this address, or it is not exported."),
    ),
    (
        r"authentication failed|could not read (username|password)|terminal prompts disabled"
        r"|invalid credentials|access denied|returned error: 40[13]",
        _AUTHENTICATION,
    ),
    (r"returned error: 30[12378]|redirected|redirection", _REDIRECT),
    (
        r"repository .*not found|does not appear to be a git repository|returned error: 404"
        r"|no such file or directory|does not exist",
        _NOT_FOUND,
    ),
    (
        r"early eof|unexpected disconnect|rpc failed|too slow|low speed",
        gettext_noop("The connection was lost. Try again."),
    ),
    (
        r"could not resolve host(name)?|name or service not known|name resolution"
        r"|failed to connect|couldn't connect|connection refused|unreachable|timed out|no route"
        r"|connection (was )?reset|hung up|certificate|ssl",
        UNREACHED,
    ),
    (
        r"not valid: is this a git repository",
        gettext_noop("There is no Git repository at this address."),
    ),
    (
        r"transport .* not allowed|protocol .* is not supported",
        gettext_noop("This kind of address is not supported."),
    ),
    # What is left of curl and ssh: something answers there, but not as they expect.
    (r"unable to access|could not read from remote repository", UNREACHED),
)


def needs_sign_in(output: str) -> bool:
    """Whether the other side wants to know who asks."""
    said = output.lower()
    found = next((sentence for pattern, sentence in _TABLE if re.search(pattern, said)), "")
    return found is _AUTHENTICATION


def explain_failure(output: str, *, had_credential: bool) -> str:
    """Returns: one sentence or two. Unknown failures quote git's last own line."""
    said = output.lower()
    for pattern, sentence in _TABLE:
        if re.search(pattern, said):
            return _REFUSED if had_credential and sentence is _AUTHENTICATION else sentence
    lines = [line for line in re.split(r"[\r\n]+", output) if line.startswith(("fatal:", "error:"))]
    # A control character of the other side must not reach a page or a terminal.
    last = re.sub(r"[^\x20-\x7e]", "", lines[-1])[:300] if lines else "git gave no reason"
    return f"The clone failed. {last}"
