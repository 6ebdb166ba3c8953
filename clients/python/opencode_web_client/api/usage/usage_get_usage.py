from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.usage import Usage
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    team: str | Unset = "",
    range_: str | Unset = "",
    since: str | Unset = "",
    until: str | Unset = "",
    member: str | Unset = "",
    model: str | Unset = "",
    project: str | Unset = "",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["team"] = team

    params["range"] = range_

    params["since"] = since

    params["until"] = until

    params["member"] = member

    params["model"] = model

    params["project"] = project

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/usage",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | Usage:
    if response.status_code == 200:
        response_200 = Usage.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | Usage]:
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
    range_: str | Unset = "",
    since: str | Unset = "",
    until: str | Unset = "",
    member: str | Unset = "",
    model: str | Unset = "",
    project: str | Unset = "",
) -> Response[Fault | Usage]:
    """Cost and tokens by day, member, model and project

     `range` is 7, 30, 90 or month; `since` and `until` (days of UTC) go before it. `member` is an
    id, 0 for deleted accounts; `model` is provider/model. Who
    is neither admin nor of the role billing gets their own.

    Args:
        team (str | Unset):  Default: ''.
        range_ (str | Unset):  Default: ''.
        since (str | Unset):  Default: ''.
        until (str | Unset):  Default: ''.
        member (str | Unset):  Default: ''.
        model (str | Unset):  Default: ''.
        project (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Usage]
    """

    kwargs = _get_kwargs(
        team=team,
        range_=range_,
        since=since,
        until=until,
        member=member,
        model=model,
        project=project,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    range_: str | Unset = "",
    since: str | Unset = "",
    until: str | Unset = "",
    member: str | Unset = "",
    model: str | Unset = "",
    project: str | Unset = "",
) -> Fault | Usage | None:
    """Cost and tokens by day, member, model and project

     `range` is 7, 30, 90 or month; `since` and `until` (days of UTC) go before it. `member` is an
    id, 0 for deleted accounts; `model` is provider/model. Who
    is neither admin nor of the role billing gets their own.

    Args:
        team (str | Unset):  Default: ''.
        range_ (str | Unset):  Default: ''.
        since (str | Unset):  Default: ''.
        until (str | Unset):  Default: ''.
        member (str | Unset):  Default: ''.
        model (str | Unset):  Default: ''.
        project (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Usage
    """

    return sync_detailed(
        client=client,
        team=team,
        range_=range_,
        since=since,
        until=until,
        member=member,
        model=model,
        project=project,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    range_: str | Unset = "",
    since: str | Unset = "",
    until: str | Unset = "",
    member: str | Unset = "",
    model: str | Unset = "",
    project: str | Unset = "",
) -> Response[Fault | Usage]:
    """Cost and tokens by day, member, model and project

     `range` is 7, 30, 90 or month; `since` and `until` (days of UTC) go before it. `member` is an
    id, 0 for deleted accounts; `model` is provider/model. Who
    is neither admin nor of the role billing gets their own.

    Args:
        team (str | Unset):  Default: ''.
        range_ (str | Unset):  Default: ''.
        since (str | Unset):  Default: ''.
        until (str | Unset):  Default: ''.
        member (str | Unset):  Default: ''.
        model (str | Unset):  Default: ''.
        project (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Usage]
    """

    kwargs = _get_kwargs(
        team=team,
        range_=range_,
        since=since,
        until=until,
        member=member,
        model=model,
        project=project,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    team: str | Unset = "",
    range_: str | Unset = "",
    since: str | Unset = "",
    until: str | Unset = "",
    member: str | Unset = "",
    model: str | Unset = "",
    project: str | Unset = "",
) -> Fault | Usage | None:
    """Cost and tokens by day, member, model and project

     `range` is 7, 30, 90 or month; `since` and `until` (days of UTC) go before it. `member` is an
    id, 0 for deleted accounts; `model` is provider/model. Who
    is neither admin nor of the role billing gets their own.

    Args:
        team (str | Unset):  Default: ''.
        range_ (str | Unset):  Default: ''.
        since (str | Unset):  Default: ''.
        until (str | Unset):  Default: ''.
        member (str | Unset):  Default: ''.
        model (str | Unset):  Default: ''.
        project (str | Unset):  Default: ''.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Usage
    """

    return (
        await asyncio_detailed(
            client=client,
            team=team,
            range_=range_,
            since=since,
            until=until,
            member=member,
            model=model,
            project=project,
        )
    ).parsed
