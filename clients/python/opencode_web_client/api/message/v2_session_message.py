from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.wrapped_message_v2 import WrappedMessageV2
from ...types import Response


def _get_kwargs(
    session_id: str,
    message_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/session/{session_id}/message/{message_id}".format(
            session_id=quote(str(session_id), safe=""),
            message_id=quote(str(message_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | WrappedMessageV2:
    if response.status_code == 200:
        response_200 = WrappedMessageV2.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | WrappedMessageV2]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    session_id: str,
    message_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[Fault | WrappedMessageV2]:
    """One message

    Args:
        session_id (str):
        message_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | WrappedMessageV2]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        message_id=message_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    session_id: str,
    message_id: str,
    *,
    client: AuthenticatedClient,
) -> Fault | WrappedMessageV2 | None:
    """One message

    Args:
        session_id (str):
        message_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | WrappedMessageV2
    """

    return sync_detailed(
        session_id=session_id,
        message_id=message_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    message_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[Fault | WrappedMessageV2]:
    """One message

    Args:
        session_id (str):
        message_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | WrappedMessageV2]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        message_id=message_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    session_id: str,
    message_id: str,
    *,
    client: AuthenticatedClient,
) -> Fault | WrappedMessageV2 | None:
    """One message

    Args:
        session_id (str):
        message_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | WrappedMessageV2
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            message_id=message_id,
            client=client,
        )
    ).parsed
