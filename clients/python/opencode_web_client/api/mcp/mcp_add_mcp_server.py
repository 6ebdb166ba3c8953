from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.mcp_add_mcp_server_response_200 import McpAddMcpServerResponse200
from ...models.mcp_body import McpBody
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: McpBody,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/mcp",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | McpAddMcpServerResponse200:
    if response.status_code == 200:
        response_200 = McpAddMcpServerResponse200.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | McpAddMcpServerResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: McpBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | McpAddMcpServerResponse200]:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | McpAddMcpServerResponse200]
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
    body: McpBody,
    idempotency_key: str | Unset = UNSET,
) -> Fault | McpAddMcpServerResponse200 | None:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | McpAddMcpServerResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: McpBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | McpAddMcpServerResponse200]:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | McpAddMcpServerResponse200]
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
    body: McpBody,
    idempotency_key: str | Unset = UNSET,
) -> Fault | McpAddMcpServerResponse200 | None:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | McpAddMcpServerResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
