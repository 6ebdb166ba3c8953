from http import HTTPStatus
from typing import Any, cast

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/instance/dispose",
        "params": params,
    }

    _kwargs["headers"] = headers
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
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | bool]:
    """Nothing is kept for one client, so nothing is dropped

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | bool]
    """

    kwargs = _get_kwargs(
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | bool | None:
    """Nothing is kept for one client, so nothing is dropped

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | bool
    """

    return sync_detailed(
        client=client,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | bool]:
    """Nothing is kept for one client, so nothing is dropped

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | bool]
    """

    kwargs = _get_kwargs(
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | bool | None:
    """Nothing is kept for one client, so nothing is dropped

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | bool
    """

    return (
        await asyncio_detailed(
            client=client,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
