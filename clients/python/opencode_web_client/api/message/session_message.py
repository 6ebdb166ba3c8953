from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.message import Message
from ...types import UNSET, Response, Unset


def _get_kwargs(
    session_id: str,
    message_id: str,
    *,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/session/{session_id}/message/{message_id}".format(
            session_id=quote(str(session_id), safe=""),
            message_id=quote(str(message_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | Message:
    if response.status_code == 200:
        response_200 = Message.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | Message]:
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
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | Message]:
    """One message

    Args:
        session_id (str):
        message_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Message]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        message_id=message_id,
        directory=directory,
        workspace=workspace,
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
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | Message | None:
    """One message

    Args:
        session_id (str):
        message_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Message
    """

    return sync_detailed(
        session_id=session_id,
        message_id=message_id,
        client=client,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    message_id: str,
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | Message]:
    """One message

    Args:
        session_id (str):
        message_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Message]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        message_id=message_id,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    session_id: str,
    message_id: str,
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | Message | None:
    """One message

    Args:
        session_id (str):
        message_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Message
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            message_id=message_id,
            client=client,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
