from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.config_get_response_200 import ConfigGetResponse200
from ...models.fault import Fault
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    team: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["team"] = team

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/config",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ConfigGetResponse200 | Fault:
    if response.status_code == 200:
        response_200 = ConfigGetResponse200.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ConfigGetResponse200 | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[ConfigGetResponse200 | Fault]:
    """The settings in force in a project, or of a team

     Those of this server, over them the team's, the project's and, as far as they count, those of
    the repository as it is in the directory; values that can be secret are masked.

    Args:
        team (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConfigGetResponse200 | Fault]
    """

    kwargs = _get_kwargs(
        team=team,
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
    team: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> ConfigGetResponse200 | Fault | None:
    """The settings in force in a project, or of a team

     Those of this server, over them the team's, the project's and, as far as they count, those of
    the repository as it is in the directory; values that can be secret are masked.

    Args:
        team (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConfigGetResponse200 | Fault
    """

    return sync_detailed(
        client=client,
        team=team,
        directory=directory,
        workspace=workspace,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> Response[ConfigGetResponse200 | Fault]:
    """The settings in force in a project, or of a team

     Those of this server, over them the team's, the project's and, as far as they count, those of
    the repository as it is in the directory; values that can be secret are masked.

    Args:
        team (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ConfigGetResponse200 | Fault]
    """

    kwargs = _get_kwargs(
        team=team,
        directory=directory,
        workspace=workspace,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
) -> ConfigGetResponse200 | Fault | None:
    """The settings in force in a project, or of a team

     Those of this server, over them the team's, the project's and, as far as they count, those of
    the repository as it is in the directory; values that can be secret are masked.

    Args:
        team (str | Unset):  Default: ''.
        directory (str | Unset):
        workspace (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ConfigGetResponse200 | Fault
    """

    return (
        await asyncio_detailed(
            client=client,
            team=team,
            directory=directory,
            workspace=workspace,
        )
    ).parsed
