from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.project_directory import ProjectDirectory
from ...types import UNSET, Response, Unset


def _get_kwargs(
    project_id: str,
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
        "url": "/project/{project_id}/directories".format(
            project_id=quote(str(project_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[ProjectDirectory]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = ProjectDirectory.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[ProjectDirectory]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    project_id: str,
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[ProjectDirectory]]:
    """Folders of the project: its worktrees

    Args:
        project_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[ProjectDirectory]]
    """

    kwargs = _get_kwargs(
        project_id=project_id,
        directory=directory,
        workspace=workspace,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    project_id: str,
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[ProjectDirectory] | None:
    """Folders of the project: its worktrees

    Args:
        project_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[ProjectDirectory]
    """

    return sync_detailed(
        project_id=project_id,
        client=client,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    project_id: str,
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[ProjectDirectory]]:
    """Folders of the project: its worktrees

    Args:
        project_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[ProjectDirectory]]
    """

    kwargs = _get_kwargs(
        project_id=project_id,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    project_id: str,
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[ProjectDirectory] | None:
    """Folders of the project: its worktrees

    Args:
        project_id (str):
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[ProjectDirectory]
    """

    return (
        await asyncio_detailed(
            project_id=project_id,
            client=client,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
