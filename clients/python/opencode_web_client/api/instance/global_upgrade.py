from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.upgrade_body import UpgradeBody
from ...models.upgraded import Upgraded
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: None | Unset | UpgradeBody = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/global/upgrade",
    }

    if isinstance(body, UpgradeBody):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | Upgraded:
    if response.status_code == 200:
        response_200 = Upgraded.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | Upgraded]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: None | Unset | UpgradeBody = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | Upgraded]:
    """Not by clients: operators upgrade the server

    Args:
        idempotency_key (str | Unset):
        body (None | Unset | UpgradeBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Upgraded]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: None | Unset | UpgradeBody = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | Upgraded | None:
    """Not by clients: operators upgrade the server

    Args:
        idempotency_key (str | Unset):
        body (None | Unset | UpgradeBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Upgraded
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: None | Unset | UpgradeBody = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | Upgraded]:
    """Not by clients: operators upgrade the server

    Args:
        idempotency_key (str | Unset):
        body (None | Unset | UpgradeBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Upgraded]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: None | Unset | UpgradeBody = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | Upgraded | None:
    """Not by clients: operators upgrade the server

    Args:
        idempotency_key (str | Unset):
        body (None | Unset | UpgradeBody):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Upgraded
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
