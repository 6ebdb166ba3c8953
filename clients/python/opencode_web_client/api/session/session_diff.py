from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.file_diff import FileDiff
from ...types import UNSET, Response, Unset


def _get_kwargs(
    session_id: str,
    *,
    message_id: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["messageID"] = message_id

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/session/{session_id}/diff".format(
            session_id=quote(str(session_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[FileDiff]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = FileDiff.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[FileDiff]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    message_id: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[FileDiff]]:
    """Changed files of a turn, the newest by default

    Args:
        session_id (str):
        message_id (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[FileDiff]]
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
    *,
    client: AuthenticatedClient,
    message_id: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[FileDiff] | None:
    """Changed files of a turn, the newest by default

    Args:
        session_id (str):
        message_id (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[FileDiff]
    """

    return sync_detailed(
        session_id=session_id,
        client=client,
        message_id=message_id,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    message_id: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[FileDiff]]:
    """Changed files of a turn, the newest by default

    Args:
        session_id (str):
        message_id (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[FileDiff]]
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
    *,
    client: AuthenticatedClient,
    message_id: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[FileDiff] | None:
    """Changed files of a turn, the newest by default

    Args:
        session_id (str):
        message_id (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[FileDiff]
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            client=client,
            message_id=message_id,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
