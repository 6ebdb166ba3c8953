"""What can go wrong while somebody signs in at a provider.

    SignInError       the provider refused, and no more is known
    ├── Denied        the person, or an administrator, said no
    ├── Expired       the code or the attempt ran out: begin again
    ├── BadCode       what was pasted is no address or code of this attempt
    ├── BadInput      an answer to a prompt is not usable; `faults` says which
    ├── SignedOut     the provider takes the refresh token no more: sign in again
    └── Unavailable   no connection, or a fault of the provider: try later

Messages are written here. They never hold a token, a code or what the provider answered.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..texts import gettext_noop

_REFUSED = gettext_noop("The provider rejected the sign-in. Try again, or use an API key.")
_DENIED = gettext_noop("The provider denied the sign-in.")
_EXPIRED = gettext_noop("The sign-in took too long and expired. Start again.")
_BAD_CODE = gettext_noop(
    "The provider rejected the code. It may have expired or already been used. Start again."
)
_BAD_INPUT = gettext_noop("Some of the values are not valid.")
_SIGNED_OUT = gettext_noop("The provider sign-in has expired. Sign in again.")
_UNAVAILABLE = gettext_noop("The provider cannot be reached. Try again later.")


class SignInError(Exception):
    """A sign-in that did not work out. `message` may be shown to the person."""

    standard = _REFUSED

    def __init__(self, message: str = "") -> None:
        self.message = message or self.standard
        super().__init__(self.message)


class Denied(SignInError):
    """The person, or an administrator of their organization, said no."""

    standard = _DENIED


class Expired(SignInError):
    """The device code or the attempt ran out."""

    standard = _EXPIRED


class BadCode(SignInError):
    """What was pasted is no address or code of this attempt."""

    standard = _BAD_CODE


class SignedOut(SignInError):
    """The provider has ended the sign-in for good; only signing in again helps."""

    standard = _SIGNED_OUT


class Unavailable(SignInError):
    """The provider did not answer, or not as it should; another try may help."""

    standard = _UNAVAILABLE


class BadInput(SignInError):
    """`faults`: key of a prompt -> what is wrong with the answer to it."""

    standard = _BAD_INPUT

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(dict.fromkeys(faults.values())))
        self.faults = dict(faults)

    @property
    def first(self) -> tuple[str, str]:
        """The first prompt with a fault, and what is wrong there."""
        return next(iter(self.faults.items()))
