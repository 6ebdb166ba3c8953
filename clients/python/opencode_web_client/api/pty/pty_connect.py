from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...types import UNSET, Response, Unset


def _get_kwargs(
    pty_id: str,
    *,
    cursor: str | Unset = "",
    ticket: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["ticket"] = ticket

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/pty/{pty_id}/connect".format(
            pty_id=quote(str(pty_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | bool:
    if response.status_code == 200:
        response_200 = cast(bool, response.json())
        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | bool]:
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
    cursor: str | Unset = "",
    ticket: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | bool]:
    """The websocket of a terminal

    Args:
        pty_id (str):
        cursor (str | Unset):  Default: ''.
        ticket (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | bool]
    """

    kwargs = _get_kwargs(
        pty_id=pty_id,
        cursor=cursor,
        ticket=ticket,
        directory=directory,
        workspace=workspace,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = "",
    ticket: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | bool | None:
    """The websocket of a terminal

    Args:
        pty_id (str):
        cursor (str | Unset):  Default: ''.
        ticket (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | bool
    """

    return sync_detailed(
        pty_id=pty_id,
        client=client,
        cursor=cursor,
        ticket=ticket,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = "",
    ticket: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | bool]:
    """The websocket of a terminal

    Args:
        pty_id (str):
        cursor (str | Unset):  Default: ''.
        ticket (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | bool]
    """

    kwargs = _get_kwargs(
        pty_id=pty_id,
        cursor=cursor,
        ticket=ticket,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = "",
    ticket: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | bool | None:
    """The websocket of a terminal

    Args:
        pty_id (str):
        cursor (str | Unset):  Default: ''.
        ticket (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | bool
    """

    return (
        await asyncio_detailed(
            pty_id=pty_id,
            client=client,
            cursor=cursor,
            ticket=ticket,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
