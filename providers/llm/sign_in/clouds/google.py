"""Google Cloud: the key file of a service account, or what `gcloud auth` leaves on a disk.

Only Google's own token endpoint is asked, whatever `token_uri` a file has: a file is pasted, and
would else say where a signed assertion or a refresh token goes.
Source: https://developers.google.com/identity/protocols/oauth2/service-account.
"""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from typing import Any

from ...json import JsonObject, dump, read_object
from ...secret import Secret
from ...texts import gettext_noop
from ..attempts import in_seconds
from ..errors import BadInput, SignedOut, SignInError
from ..grants import Grant
from ..http import Http
from ..oauth import base64url

TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_LIFETIME_S = 3_600
_DEFAULT_LIFETIME_S = 3_600.0
_FIELDS = {
    "service_account": ("client_email", "private_key"),
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
}
_BAD_FILE = gettext_noop(
    "This is not a Google Cloud key file. Paste the complete JSON of a service account "
    "or of the application default credentials."
)
_BAD_KEY = gettext_noop("The private key in this file cannot be read. Create a new one.")
_REFUSED = gettext_noop(
    "Google rejected this key. It may have been deleted or disabled. Create a new one."
)
_NO_CRYPTOGRAPHY = gettext_noop(
    'Google service accounts need the package cryptography. Install the extra "google".'
)


def read_key_file(text: str) -> JsonObject:
    """Returns: what is needed of a pasted file, and nothing else of it.

    Raises: BadInput for any other JSON, and for a key that cannot be read; SignInError without the
    package that reads keys.
    """
    given = read_object(text) or {}
    kind = str(given.get("type"))
    values = {name: given.get(name) for name in _FIELDS.get(kind, ())}
    if not values or not all(isinstance(value, str) and value for value in values.values()):
        raise BadInput({"key": _BAD_FILE})
    if kind == "service_account":
        _load(str(values["private_key"]))
    optional = {
        name: given.get(name) for name in ("private_key_id", "project_id", "quota_project_id")
    }
    kept = {name: value for name, value in optional.items() if isinstance(value, str)}
    return {"type": kind, **values, **kept}


async def google_grant(key_file: JsonObject, http: Http) -> Grant:
    """Returns: a grant whose `secrets` hold the token as `accessToken`.

    `connection` names the project of the file, where it has one.
    Raises: SignedOut where Google takes the key no more; BadInput; Unavailable; SignInError.
    """
    account = str(key_file.get("client_email", ""))
    form = _user_form(key_file)
    if key_file["type"] == "service_account":
        form = {"grant_type": _JWT_GRANT, "assertion": assertion_of(key_file, datetime.now(UTC))}
    reply = await http.ask("POST", TOKEN_URL, form=form)
    if not reply.is_success:
        has_ended = reply.error in {"invalid_grant", "invalid_client", "unauthorized_client"}
        raise SignedOut(_REFUSED) if has_ended else SignInError
    token = Secret(reply.text("access_token"))
    project = key_file.get("project_id") or key_file.get("quota_project_id")
    return Grant(
        token,
        expires_at=in_seconds(reply.seconds("expires_in") or _DEFAULT_LIFETIME_S),
        account=account,
        connection={"project": str(project)} if project else {},
        secrets={"accessToken": token},
    )


def assertion_of(key_file: JsonObject, now: datetime) -> str:
    """Returns: what a service account signs to get a token. Raises: BadInput; SignInError."""
    issued = int(now.timestamp())
    header: JsonObject = {"alg": "RS256", "typ": "JWT"}
    if "private_key_id" in key_file:
        header["kid"] = key_file["private_key_id"]
    claims: JsonObject = {
        "iss": key_file["client_email"],
        "scope": _SCOPE,
        "aud": TOKEN_URL,
        "iat": issued,
        "exp": issued + _LIFETIME_S,
    }
    signed = f"{base64url(dump(header).encode())}.{base64url(dump(claims).encode())}"
    padding, hashes = (
        importlib.import_module(f"cryptography.hazmat.primitives.{name}")
        for name in ("asymmetric.padding", "hashes")
    )
    key = _load(str(key_file["private_key"]))
    signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{base64url(signature)}"


def _user_form(key_file: JsonObject) -> dict[str, str]:
    names = _FIELDS["authorized_user"]
    return {"grant_type": "refresh_token", **{name: str(key_file.get(name)) for name in names}}


def _load(pem: str) -> Any:  # an RSA key of a package that need not be installed
    try:
        name = "cryptography.hazmat.primitives."
        serialization = importlib.import_module(f"{name}serialization")
        rsa = importlib.import_module(f"{name}asymmetric.rsa")
    except ImportError as exc:
        raise SignInError(_NO_CRYPTOGRAPHY) from exc
    try:
        key = serialization.load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError) as exc:
        raise BadInput({"key": _BAD_KEY}) from exc
    if not isinstance(key, rsa.RSAPrivateKey):
        raise BadInput({"key": _BAD_KEY})
    return key
