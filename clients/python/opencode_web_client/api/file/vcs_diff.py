from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.vcs_diff_mode import VcsDiffMode
from ...models.vcs_file_diff import VcsFileDiff
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    mode: VcsDiffMode,
    context: int | Unset = 3,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_mode = mode.value
    params["mode"] = json_mode

    params["context"] = context

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/vcs/diff",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[VcsFileDiff]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = VcsFileDiff.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[VcsFileDiff]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    mode: VcsDiffMode,
    context: int | Unset = 3,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[VcsFileDiff]]:
    """Changes since the last commit, or since the branch began

    Args:
        mode (VcsDiffMode):
        context (int | Unset):  Default: 3.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[VcsFileDiff]]
    """

    kwargs = _get_kwargs(
        mode=mode,
        context=context,
        directory=directory,
        workspace=workspace,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    mode: VcsDiffMode,
    context: int | Unset = 3,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[VcsFileDiff] | None:
    """Changes since the last commit, or since the branch began

    Args:
        mode (VcsDiffMode):
        context (int | Unset):  Default: 3.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[VcsFileDiff]
    """

    return sync_detailed(
        client=client,
        mode=mode,
        context=context,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    mode: VcsDiffMode,
    context: int | Unset = 3,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[VcsFileDiff]]:
    """Changes since the last commit, or since the branch began

    Args:
        mode (VcsDiffMode):
        context (int | Unset):  Default: 3.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[VcsFileDiff]]
    """

    kwargs = _get_kwargs(
        mode=mode,
        context=context,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    mode: VcsDiffMode,
    context: int | Unset = 3,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[VcsFileDiff] | None:
    """Changes since the last commit, or since the branch began

    Args:
        mode (VcsDiffMode):
        context (int | Unset):  Default: 3.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[VcsFileDiff]
    """

    return (
        await asyncio_detailed(
            client=client,
            mode=mode,
            context=context,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
