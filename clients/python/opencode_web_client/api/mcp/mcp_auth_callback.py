from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.code_body import CodeBody
from ...models.fault import Fault
from ...models.mcp_connected import McpConnected
from ...models.mcp_disabled import McpDisabled
from ...models.mcp_failed import McpFailed
from ...models.mcp_needs_auth import McpNeedsAuth
from ...models.mcp_needs_registration import McpNeedsRegistration
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    body: CodeBody,
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
        "url": "/mcp/{name}/auth/callback".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> (
    Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
):
    if response.status_code == 200:

        def _parse_response_200(
            data: object,
        ) -> (
            McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
        ):
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = McpConnected.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_1 = McpDisabled.from_dict(data)

                return response_200_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_2 = McpNeedsAuth.from_dict(data)

                return response_200_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_3 = McpFailed.from_dict(data)

                return response_200_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_4 = McpNeedsRegistration.from_dict(data)

            return response_200_type_4

        response_200 = _parse_response_200(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[
    Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: CodeBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[
    Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
]:
    """End a sign-in to an MCP server

    Args:
        name (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (CodeBody): What the authorisation server gave.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration]
    """

    kwargs = _get_kwargs(
        name=name,
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
    name: str,
    *,
    client: AuthenticatedClient,
    body: CodeBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> (
    Fault
    | McpConnected
    | McpDisabled
    | McpFailed
    | McpNeedsAuth
    | McpNeedsRegistration
    | None
):
    """End a sign-in to an MCP server

    Args:
        name (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (CodeBody): What the authorisation server gave.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
    """

    return sync_detailed(
        name=name,
        client=client,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient,
    body: CodeBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[
    Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
]:
    """End a sign-in to an MCP server

    Args:
        name (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (CodeBody): What the authorisation server gave.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient,
    body: CodeBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> (
    Fault
    | McpConnected
    | McpDisabled
    | McpFailed
    | McpNeedsAuth
    | McpNeedsRegistration
    | None
):
    """End a sign-in to an MCP server

    Args:
        name (str):
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (CodeBody): What the authorisation server gave.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
