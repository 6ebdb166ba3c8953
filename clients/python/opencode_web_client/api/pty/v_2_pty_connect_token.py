from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.placed_ticket import PlacedTicket
from ...models.v2_pty_connect_token_location import V2PtyConnectTokenLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    pty_id: str,
    *,
    location: V2PtyConnectTokenLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    json_location: dict[str, Any] | Unset = UNSET
    if not isinstance(location, Unset):
        json_location = location.to_dict()
    if not isinstance(json_location, Unset):
        params.update(json_location)

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/pty/{pty_id}/connect-token".format(
            pty_id=quote(str(pty_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PlacedTicket:
    if response.status_code == 200:
        response_200 = PlacedTicket.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PlacedTicket]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    location: V2PtyConnectTokenLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | PlacedTicket]:
    """A ticket that attaches a websocket, once

    Args:
        pty_id (str):
        location (V2PtyConnectTokenLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedTicket]
    """

    kwargs = _get_kwargs(
        pty_id=pty_id,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    location: V2PtyConnectTokenLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | PlacedTicket | None:
    """A ticket that attaches a websocket, once

    Args:
        pty_id (str):
        location (V2PtyConnectTokenLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedTicket
    """

    return sync_detailed(
        pty_id=pty_id,
        client=client,
        location=location,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    location: V2PtyConnectTokenLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | PlacedTicket]:
    """A ticket that attaches a websocket, once

    Args:
        pty_id (str):
        location (V2PtyConnectTokenLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PlacedTicket]
    """

    kwargs = _get_kwargs(
        pty_id=pty_id,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    location: V2PtyConnectTokenLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | PlacedTicket | None:
    """A ticket that attaches a websocket, once

    Args:
        pty_id (str):
        location (V2PtyConnectTokenLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PlacedTicket
    """

    return (
        await asyncio_detailed(
            pty_id=pty_id,
            client=client,
            location=location,
            idempotency_key=idempotency_key,
        )
    ).parsed
