from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.schedule_run import ScheduleRun
from ...types import UNSET, Response, Unset


def _get_kwargs(
    schedule_id: str,
    *,
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["before"] = before

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/schedule/{schedule_id}/run".format(
            schedule_id=quote(str(schedule_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | list[ScheduleRun]:
    if response.status_code == 200:
        response_200 = []
        _response_200 = response.json()
        for response_200_item_data in _response_200:
            response_200_item = ScheduleRun.from_dict(response_200_item_data)

            response_200.append(response_200_item)

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | list[ScheduleRun]]:
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
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Response[Fault | list[ScheduleRun]]:
    """Its runs, newest first

    Args:
        schedule_id (str):
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[ScheduleRun]]
    """

    kwargs = _get_kwargs(
        schedule_id=schedule_id,
        limit=limit,
        before=before,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Fault | list[ScheduleRun] | None:
    """Its runs, newest first

    Args:
        schedule_id (str):
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[ScheduleRun]
    """

    return sync_detailed(
        schedule_id=schedule_id,
        client=client,
        limit=limit,
        before=before,
    ).parsed


async def asyncio_detailed(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Response[Fault | list[ScheduleRun]]:
    """Its runs, newest first

    Args:
        schedule_id (str):
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | list[ScheduleRun]]
    """

    kwargs = _get_kwargs(
        schedule_id=schedule_id,
        limit=limit,
        before=before,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    schedule_id: str,
    *,
    client: AuthenticatedClient,
    limit: int | Unset = 50,
    before: str | Unset = "",
) -> Fault | list[ScheduleRun] | None:
    """Its runs, newest first

    Args:
        schedule_id (str):
        limit (int | Unset):  Default: 50.
        before (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | list[ScheduleRun]
    """

    return (
        await asyncio_detailed(
            schedule_id=schedule_id,
            client=client,
            limit=limit,
            before=before,
        )
    ).parsed
