from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.put_config_patch import PutConfigPatch
from ...models.put_config_response_200 import PutConfigResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: PutConfigPatch,
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
        "method": "put",
        "url": "/config",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | PutConfigResponse200:
    if response.status_code == 200:
        response_200 = PutConfigResponse200.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | PutConfigResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: PutConfigPatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | PutConfigResponse200]:
    """The same as PATCH

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (PutConfigPatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PutConfigResponse200]
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
    body: PutConfigPatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Fault | PutConfigResponse200 | None:
    """The same as PATCH

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (PutConfigPatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PutConfigResponse200
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
    body: PutConfigPatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | PutConfigResponse200]:
    """The same as PATCH

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (PutConfigPatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | PutConfigResponse200]
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
    body: PutConfigPatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Fault | PutConfigResponse200 | None:
    """The same as PATCH

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (PutConfigPatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | PutConfigResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            team=team,
            idempotency_key=idempotency_key,
        )
    ).parsed
