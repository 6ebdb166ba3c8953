from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.schedule import Schedule
from ...models.schedule_patch import SchedulePatch
from ...types import UNSET, Response, Unset


def _get_kwargs(
    schedule_id: str,
    *,
    body: SchedulePatch,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/schedule/{schedule_id}".format(
            schedule_id=quote(str(schedule_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | Schedule:
    if response.status_code == 200:
        response_200 = Schedule.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | Schedule]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    body: SchedulePatch,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | Schedule]:
    """Change, pause or resume it

    Args:
        schedule_id (str):
        idempotency_key (str | Unset):
        body (SchedulePatch): Only what is given changes. Whoever changes more than `paused`
            becomes its author.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Schedule]
    """

    kwargs = _get_kwargs(
        schedule_id=schedule_id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    body: SchedulePatch,
    idempotency_key: str | Unset = UNSET,
) -> Fault | Schedule | None:
    """Change, pause or resume it

    Args:
        schedule_id (str):
        idempotency_key (str | Unset):
        body (SchedulePatch): Only what is given changes. Whoever changes more than `paused`
            becomes its author.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Schedule
    """

    return sync_detailed(
        schedule_id=schedule_id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    body: SchedulePatch,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | Schedule]:
    """Change, pause or resume it

    Args:
        schedule_id (str):
        idempotency_key (str | Unset):
        body (SchedulePatch): Only what is given changes. Whoever changes more than `paused`
            becomes its author.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Schedule]
    """

    kwargs = _get_kwargs(
        schedule_id=schedule_id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    body: SchedulePatch,
    idempotency_key: str | Unset = UNSET,
) -> Fault | Schedule | None:
    """Change, pause or resume it

    Args:
        schedule_id (str):
        idempotency_key (str | Unset):
        body (SchedulePatch): Only what is given changes. Whoever changes more than `paused`
            becomes its author.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Schedule
    """

    return (
        await asyncio_detailed(
            schedule_id=schedule_id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
