"""What has to be asked before a call: a token in exchange for a key, or where a model is served."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import UTC, datetime

import httpx

from .classify import Answer, classify
from .connection import Connection
from .errors import ServerError
from .json import JsonObject
from .messages import ProviderRequest

MAX_ANSWER_BYTES = 1024 * 1024
# Nobody is given a token that ends while the call with it is on its way.
_EARLY_S = 60.0
_NO_OBJECT = "The provider answered something unreadable where it should give a token."


class Exchange:
    """Answers that count for a while. They stay in the memory of this process."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, JsonObject]] = {}

    async def ask(
        self,
        call: httpx.Request,
        transport: httpx.AsyncBaseTransport,
        request: ProviderRequest,
        *,
        lifetime_s: float,
    ) -> JsonObject:
        """Send `call`, unless the same has been answered and that counts still.

        `lifetime_s` holds where the answer itself names none (`expires_in`).

        Raises: ProviderError.
        """
        now = time.monotonic()
        self._kept = {key: one for key, one in self._kept.items() if one[0] > now}
        said = (call.method, str(call.url), call.headers.get("authorization"), call.content)
        key = hashlib.sha256(repr(said).encode()).hexdigest()
        if key in self._kept:
            return self._kept[key][1]
        answer = await _send(call, transport, request)
        named = answer.get("expires_in")
        lasts_s = named if isinstance(named, int | float) else lifetime_s
        self._kept[key] = (now + lasts_s - _EARLY_S, answer)
        return answer


async def _send(
    call: httpx.Request, transport: httpx.AsyncBaseTransport, request: ProviderRequest
) -> JsonObject:
    connection = Connection(transport, request.model.timeouts)
    body = bytearray()
    try:
        async for block in await connection.open(call):
            body += block
            if len(body) > MAX_ANSWER_BYTES:
                break
        answer = json.loads(body)
    except ValueError:
        answer = None
    except (httpx.HTTPError, TimeoutError, OSError) as exc:
        given = Answer(connection.status_code, connection.headers, connection.error_body)
        secrets = (request.model.api_key, *request.model.secrets.values())
        raise classify(exc, answer=given, secrets=secrets, now=datetime.now(UTC)) from exc
    finally:
        await connection.close()
    if not isinstance(answer, dict):
        raise ServerError(_NO_OBJECT)
    return answer
