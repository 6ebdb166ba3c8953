from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.service_account import ServiceAccount
from ...models.service_body import ServiceBody
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ServiceBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["team"] = team

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/service-account",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | ServiceAccount:
    if response.status_code == 200:
        response_200 = ServiceAccount.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | ServiceAccount]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: ServiceBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | ServiceAccount]:
    """Make an account for a program

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (ServiceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | ServiceAccount]
    """

    kwargs = _get_kwargs(
        body=body,
        team=team,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: ServiceBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Fault | ServiceAccount | None:
    """Make an account for a program

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (ServiceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | ServiceAccount
    """

    return sync_detailed(
        client=client,
        body=body,
        team=team,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: ServiceBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | ServiceAccount]:
    """Make an account for a program

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (ServiceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | ServiceAccount]
    """

    kwargs = _get_kwargs(
        body=body,
        team=team,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ServiceBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Fault | ServiceAccount | None:
    """Make an account for a program

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (ServiceBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | ServiceAccount
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            team=team,
            idempotency_key=idempotency_key,
        )
    ).parsed
