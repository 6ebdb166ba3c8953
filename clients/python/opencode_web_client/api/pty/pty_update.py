from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.pty import Pty
from ...models.terminal_patch import TerminalPatch
from ...types import UNSET, Response, Unset


def _get_kwargs(
    pty_id: str,
    *,
    body: TerminalPatch,
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
        "method": "put",
        "url": "/pty/{pty_id}".format(
            pty_id=quote(str(pty_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | Pty:
    if response.status_code == 200:
        response_200 = Pty.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | Pty]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    body: TerminalPatch,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | Pty]:
    """Rename or resize a terminal

    Args:
        pty_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (TerminalPatch): Only what is given changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Pty]
    """

    kwargs = _get_kwargs(
        pty_id=pty_id,
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
    pty_id: str,
    *,
    client: AuthenticatedClient,
    body: TerminalPatch,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | Pty | None:
    """Rename or resize a terminal

    Args:
        pty_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (TerminalPatch): Only what is given changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Pty
    """

    return sync_detailed(
        pty_id=pty_id,
        client=client,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    body: TerminalPatch,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | Pty]:
    """Rename or resize a terminal

    Args:
        pty_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (TerminalPatch): Only what is given changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | Pty]
    """

    kwargs = _get_kwargs(
        pty_id=pty_id,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    pty_id: str,
    *,
    client: AuthenticatedClient,
    body: TerminalPatch,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | Pty | None:
    """Rename or resize a terminal

    Args:
        pty_id (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (TerminalPatch): Only what is given changes.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | Pty
    """

    return (
        await asyncio_detailed(
            pty_id=pty_id,
            client=client,
            body=body,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
