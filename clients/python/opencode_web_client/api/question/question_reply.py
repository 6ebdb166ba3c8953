from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.question_reply import QuestionReply
from ...types import UNSET, Response, Unset


def _get_kwargs(
    question_id: str,
    *,
    body: QuestionReply,
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
        "url": "/question/{question_id}/reply".format(
            question_id=quote(str(question_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

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
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionReply,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | bool]:
    """Answer questions; the first answer wins

    Args:
        question_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (QuestionReply): For each question the chosen labels, or what somebody wrote.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | bool]
    """

    kwargs = _get_kwargs(
        question_id=question_id,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionReply,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | bool | None:
    """Answer questions; the first answer wins

    Args:
        question_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (QuestionReply): For each question the chosen labels, or what somebody wrote.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | bool
    """

    return sync_detailed(
        question_id=question_id,
        client=client,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionReply,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | bool]:
    """Answer questions; the first answer wins

    Args:
        question_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (QuestionReply): For each question the chosen labels, or what somebody wrote.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | bool]
    """

    kwargs = _get_kwargs(
        question_id=question_id,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    question_id: str,
    *,
    client: AuthenticatedClient,
    body: QuestionReply,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | bool | None:
    """Answer questions; the first answer wins

    Args:
        question_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (QuestionReply): For each question the chosen labels, or what somebody wrote.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | bool
    """

    return (
        await asyncio_detailed(
            question_id=question_id,
            client=client,
            body=body,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
