from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.answer_message import AnswerMessage
from ...models.fault import Fault
from ...models.prompt_body import PromptBody
from ...types import UNSET, Response, Unset


def _get_kwargs(
    session_id: str,
    *,
    body: PromptBody,
    timeout: float | None | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    json_timeout: float | None | Unset
    if isinstance(timeout, Unset):
        json_timeout = UNSET
    else:
        json_timeout = timeout
    params["timeout"] = json_timeout

    params["directory"] = directory

    params["workspace"] = workspace

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/session/{session_id}/message".format(
            session_id=quote(str(session_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AnswerMessage | Fault:
    if response.status_code == 200:
        response_200 = AnswerMessage.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AnswerMessage | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: PromptBody,
    timeout: float | None | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[AnswerMessage | Fault]:
    """Prompt, wait for the turn to end, and get the last message

    Args:
        session_id (str):
        timeout (float | None | Unset): Seconds; then the answer is 503, and the same call with
            the same messageID goes on waiting. Without it there is no limit.
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (PromptBody): A prompt. `messageID` makes a retry safe; `delivery` says what happens
            while a turn runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AnswerMessage | Fault]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        body=body,
        timeout=timeout,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: PromptBody,
    timeout: float | None | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> AnswerMessage | Fault | None:
    """Prompt, wait for the turn to end, and get the last message

    Args:
        session_id (str):
        timeout (float | None | Unset): Seconds; then the answer is 503, and the same call with
            the same messageID goes on waiting. Without it there is no limit.
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (PromptBody): A prompt. `messageID` makes a retry safe; `delivery` says what happens
            while a turn runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AnswerMessage | Fault
    """

    return sync_detailed(
        session_id=session_id,
        client=client,
        body=body,
        timeout=timeout,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: PromptBody,
    timeout: float | None | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[AnswerMessage | Fault]:
    """Prompt, wait for the turn to end, and get the last message

    Args:
        session_id (str):
        timeout (float | None | Unset): Seconds; then the answer is 503, and the same call with
            the same messageID goes on waiting. Without it there is no limit.
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (PromptBody): A prompt. `messageID` makes a retry safe; `delivery` says what happens
            while a turn runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AnswerMessage | Fault]
    """

    kwargs = _get_kwargs(
        session_id=session_id,
        body=body,
        timeout=timeout,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    session_id: str,
    *,
    client: AuthenticatedClient,
    body: PromptBody,
    timeout: float | None | Unset = UNSET,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> AnswerMessage | Fault | None:
    """Prompt, wait for the turn to end, and get the last message

    Args:
        session_id (str):
        timeout (float | None | Unset): Seconds; then the answer is 503, and the same call with
            the same messageID goes on waiting. Without it there is no limit.
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (PromptBody): A prompt. `messageID` makes a retry safe; `delivery` says what happens
            while a turn runs.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AnswerMessage | Fault
    """

    return (
        await asyncio_detailed(
            session_id=session_id,
            client=client,
            body=body,
            timeout=timeout,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
