from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.global_config_update_patch import GlobalConfigUpdatePatch
from ...models.global_config_update_response_200 import GlobalConfigUpdateResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: GlobalConfigUpdatePatch,
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
        "method": "patch",
        "url": "/global/config",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | GlobalConfigUpdateResponse200:
    if response.status_code == 200:
        response_200 = GlobalConfigUpdateResponse200.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | GlobalConfigUpdateResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: GlobalConfigUpdatePatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | GlobalConfigUpdateResponse200]:
    """Change the settings of a team

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (GlobalConfigUpdatePatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | GlobalConfigUpdateResponse200]
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
    body: GlobalConfigUpdatePatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Fault | GlobalConfigUpdateResponse200 | None:
    """Change the settings of a team

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (GlobalConfigUpdatePatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | GlobalConfigUpdateResponse200
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
    body: GlobalConfigUpdatePatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | GlobalConfigUpdateResponse200]:
    """Change the settings of a team

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (GlobalConfigUpdatePatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | GlobalConfigUpdateResponse200]
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
    body: GlobalConfigUpdatePatch,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Fault | GlobalConfigUpdateResponse200 | None:
    """Change the settings of a team

     Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (GlobalConfigUpdatePatch):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | GlobalConfigUpdateResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            team=team,
            idempotency_key=idempotency_key,
        )
    ).parsed
