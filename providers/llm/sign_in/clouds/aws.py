"""Amazon Web Services: a named profile of the machine that this runs on.

It is the machine's own identity, so only who runs the server may choose one. botocore reads its
files, and asks AWS over connections of its own where a profile signs in or takes on a role.
"""

from __future__ import annotations

import asyncio
import importlib
from datetime import UTC, datetime, timedelta
from typing import Any

from ...secret import Secret
from ...texts import gettext_noop
from ..errors import BadInput, SignedOut, SignInError, Unavailable
from ..grants import Grant

# Keys without an end are read again after this, since somebody may have changed them.
_REREAD_S = 900.0
# What they find is the machine's, whatever the profile says.
_NOT_OF_A_PROFILE = ("env", "ec2-credentials-file", "boto-config", "container-role", "iam-role")
_NO_BOTOCORE = gettext_noop('AWS profiles need the package botocore. Install the extra "bedrock".')
_NO_PROFILE = gettext_noop("The server's AWS configuration has no profile with this name.")
_NO_KEYS = gettext_noop("This AWS profile has no credentials, or they have expired.")


async def profile_grant(profile: str) -> Grant:
    """Returns: a grant whose `secrets` hold `accessKeyId`, `secretAccessKey` and maybe a
    `sessionToken`; its `connection` the region of the profile, if it names one.

    Raises: BadInput where there is no such profile; SignedOut where it has no credentials;
    Unavailable where AWS does not give them; SignInError without botocore.
    """
    return await asyncio.to_thread(_read, profile)


def _read(profile: str) -> Grant:
    try:
        sessions = importlib.import_module("botocore.session")
        errors = importlib.import_module("botocore.exceptions")
    except ImportError as exc:
        raise SignInError(_NO_BOTOCORE) from exc
    try:
        session = sessions.Session(profile=profile)
        chain = session.get_component("credential_provider")
        for name in _NOT_OF_A_PROFILE:
            chain.remove(name)
        found = chain.load_credentials()
        keys = found.get_frozen_credentials() if found else None
        region = session.get_scoped_config().get("region")
    except errors.ProfileNotFound as exc:
        raise BadInput({"profile": _NO_PROFILE}) from exc
    except (errors.HTTPClientError, errors.ClientError) as exc:
        raise Unavailable from exc
    # What a process of the profile prints is read without a check.
    except (errors.BotoCoreError, ValueError, OSError) as exc:
        raise SignedOut(_NO_KEYS) from exc
    if keys is None:
        raise SignedOut(_NO_KEYS)
    return _to_grant(profile, keys, _end_of(found), region)


def _to_grant(profile: str, keys: Any, ends: datetime, region: str | None) -> Grant:
    secrets = {
        "accessKeyId": Secret(keys.access_key),
        "secretAccessKey": Secret(keys.secret_key),
        **({"sessionToken": Secret(keys.token)} if keys.token else {}),
    }
    return Grant(
        secrets["secretAccessKey"],
        expires_at=ends,
        account=profile,
        connection={"region": region} if region else {},
        secrets=secrets,
    )


def _end_of(found: Any) -> datetime:  # botocore has no types
    soon = datetime.now(UTC) + timedelta(seconds=_REREAD_S)
    # It has no public name; without it they are only read more often.
    ends = getattr(found, "_expiry_time", None)
    return min(ends, soon) if isinstance(ends, datetime) else soon
