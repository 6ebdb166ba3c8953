from http import HTTPStatus
from typing import Any, Literal

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.session import Session
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    scope: Literal["project"] | None | Unset = UNSET,
    path: None | str | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["roots"] = roots

    json_start: float | None | Unset
    if isinstance(start, Unset):
        json_start = UNSET
    else:
        json_start = start
    params["start"] = json_start

    params["search"] = search

    params["limit"] = limit

    json_scope: Literal["project"] | None | Unset
    if isinstance(scope, Unset):
        json_scope = UNSET
    else:
        json_scope = scope
    params["scope"] = json_scope

    json_path: None | str | Unset
    if isinstance(path, Unset):
        json_path = UNSET
    else:
        json_path = path
    params["path"] = json_path

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/session",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[Session]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = Session.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[Session]]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    scope: Literal["project"] | None | Unset = UNSET,
    path: None | str | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[Session]]:
    """Sessions of a project, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        scope (Literal['project'] | None | Unset):
        path (None | str | Unset): Sessions of this folder and of those below it; of all when
            empty.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[Session]]
    """

    kwargs = _get_kwargs(
        roots=roots,
        start=start,
        search=search,
        limit=limit,
        scope=scope,
        path=path,
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
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    scope: Literal["project"] | None | Unset = UNSET,
    path: None | str | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[Session] | None:
    """Sessions of a project, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        scope (Literal['project'] | None | Unset):
        path (None | str | Unset): Sessions of this folder and of those below it; of all when
            empty.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[Session]
    """

    return sync_detailed(
        client=client,
        roots=roots,
        start=start,
        search=search,
        limit=limit,
        scope=scope,
        path=path,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    scope: Literal["project"] | None | Unset = UNSET,
    path: None | str | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[Fault | list[Session]]:
    """Sessions of a project, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        scope (Literal['project'] | None | Unset):
        path (None | str | Unset): Sessions of this folder and of those below it; of all when
            empty.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[Session]]
    """

    kwargs = _get_kwargs(
        roots=roots,
        start=start,
        search=search,
        limit=limit,
        scope=scope,
        path=path,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    roots: bool | Unset = False,
    start: float | None | Unset = UNSET,
    search: str | Unset = "",
    limit: int | Unset = 100,
    scope: Literal["project"] | None | Unset = UNSET,
    path: None | str | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Fault | list[Session] | None:
    """Sessions of a project, the latest first

    Args:
        roots (bool | Unset):  Default: False.
        start (float | None | Unset):
        search (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 100.
        scope (Literal['project'] | None | Unset):
        path (None | str | Unset): Sessions of this folder and of those below it; of all when
            empty.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[Session]
    """

    return (
        await asyncio_detailed(
            client=client,
            roots=roots,
            start=start,
            search=search,
            limit=limit,
            scope=scope,
            path=path,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
