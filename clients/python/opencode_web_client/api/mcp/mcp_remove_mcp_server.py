from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.done import Done
from ...models.fault import Fault
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    name: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["name"] = name

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/mcp",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Done | Fault:
    if response.status_code == 200:
        response_200 = Done.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Done | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    name: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Done | Fault]:
    """Remove an MCP server from the settings of a project

     One of the team, or of this server, is not the project's to remove; it can be disconnected.

    One that is switched off for the project comes back as those have it.

    Args:
        name (str | Unset):  Default: ''.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Done | Fault]
    """

    kwargs = _get_kwargs(
        name=name,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    name: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Done | Fault | None:
    """Remove an MCP server from the settings of a project

     One of the team, or of this server, is not the project's to remove; it can be disconnected.

    One that is switched off for the project comes back as those have it.

    Args:
        name (str | Unset):  Default: ''.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Done | Fault
    """

    return sync_detailed(
        client=client,
        name=name,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    name: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Done | Fault]:
    """Remove an MCP server from the settings of a project

     One of the team, or of this server, is not the project's to remove; it can be disconnected.

    One that is switched off for the project comes back as those have it.

    Args:
        name (str | Unset):  Default: ''.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Done | Fault]
    """

    kwargs = _get_kwargs(
        name=name,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    name: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Done | Fault | None:
    """Remove an MCP server from the settings of a project

     One of the team, or of this server, is not the project's to remove; it can be disconnected.

    One that is switched off for the project comes back as those have it.

    Args:
        name (str | Unset):  Default: ''.
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Done | Fault
    """

    return (
        await asyncio_detailed(
            client=client,
            name=name,
            idempotency_key=idempotency_key,
        )
    ).parsed
