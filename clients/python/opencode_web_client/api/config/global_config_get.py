from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.global_config_get_response_200 import GlobalConfigGetResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    team: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["team"] = team

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/global/config",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | GlobalConfigGetResponse200:
    if response.status_code == 200:
        response_200 = GlobalConfigGetResponse200.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | GlobalConfigGetResponse200]:
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
) -> Response[Fault | GlobalConfigGetResponse200]:
    """The settings of a team, which hold in all its projects

    Args:
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | GlobalConfigGetResponse200]
    """

    kwargs = _get_kwargs(
        team=team,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Fault | GlobalConfigGetResponse200 | None:
    """The settings of a team, which hold in all its projects

    Args:
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | GlobalConfigGetResponse200
    """

    return sync_detailed(
        client=client,
        team=team,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Response[Fault | GlobalConfigGetResponse200]:
    """The settings of a team, which hold in all its projects

    Args:
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | GlobalConfigGetResponse200]
    """

    kwargs = _get_kwargs(
        team=team,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
) -> Fault | GlobalConfigGetResponse200 | None:
    """The settings of a team, which hold in all its projects

    Args:
        team (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | GlobalConfigGetResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            team=team,
        )
    ).parsed
