from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.budget_body import BudgetBody
from ...models.budgets import Budgets
from ...models.fault import Fault
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: BudgetBody,
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
        "url": "/budget",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Budgets | Fault:
    if response.status_code == 200:
        response_200 = Budgets.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Budgets | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: BudgetBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Budgets | Fault]:
    """Set the budgets of a month

     What waits for a budget looks again.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (BudgetBody): USD for a calendar month of UTC; what is not given is no budget.

            Members that are not named keep theirs. `session` is what one may cost before an admin is
            asked:
            it stays when it is not given, and null takes it away. `allowUnpriced`: whether models
            whose
            price is not known may be used although a budget is set; it stays when it is not given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Budgets | Fault]
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
    body: BudgetBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Budgets | Fault | None:
    """Set the budgets of a month

     What waits for a budget looks again.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (BudgetBody): USD for a calendar month of UTC; what is not given is no budget.

            Members that are not named keep theirs. `session` is what one may cost before an admin is
            asked:
            it stays when it is not given, and null takes it away. `allowUnpriced`: whether models
            whose
            price is not known may be used although a budget is set; it stays when it is not given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Budgets | Fault
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
    body: BudgetBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Response[Budgets | Fault]:
    """Set the budgets of a month

     What waits for a budget looks again.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (BudgetBody): USD for a calendar month of UTC; what is not given is no budget.

            Members that are not named keep theirs. `session` is what one may cost before an admin is
            asked:
            it stays when it is not given, and null takes it away. `allowUnpriced`: whether models
            whose
            price is not known may be used although a budget is set; it stays when it is not given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Budgets | Fault]
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
    body: BudgetBody,
    team: str | Unset = "",
    idempotency_key: str | Unset = UNSET,
) -> Budgets | Fault | None:
    """Set the budgets of a month

     What waits for a budget looks again.

    Args:
        team (str | Unset):  Default: ''.
        idempotency_key (str | Unset):
        body (BudgetBody): USD for a calendar month of UTC; what is not given is no budget.

            Members that are not named keep theirs. `session` is what one may cost before an admin is
            asked:
            it stays when it is not given, and null takes it away. `allowUnpriced`: whether models
            whose
            price is not known may be used although a budget is set; it stays when it is not given.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Budgets | Fault
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            team=team,
            idempotency_key=idempotency_key,
        )
    ).parsed
