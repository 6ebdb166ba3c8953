from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.mcp_add_response_200 import McpAddResponse200
from ...models.mcp_body import McpBody
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: McpBody,
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
        "url": "/mcp",
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fault | McpAddResponse200:
    if response.status_code == 200:
        response_200 = McpAddResponse200.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fault | McpAddResponse200]:
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
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | McpAddResponse200]:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | McpAddResponse200]
    """

    kwargs = _get_kwargs(
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
    *,
    client: AuthenticatedClient,
    body: McpBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | McpAddResponse200 | None:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | McpAddResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: McpBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Fault | McpAddResponse200]:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fault | McpAddResponse200]
    """

    kwargs = _get_kwargs(
        body=body,
        directory=directory,
        workspace=workspace,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: McpBody,
    directory: str | Unset = UNSET,
    workspace: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Fault | McpAddResponse200 | None:
    """Add an MCP server to the settings of a project, or change it

     Where it cannot be asked as it is described, nothing is changed.

    Args:
        directory (str | Unset):
        workspace (str | Unset):
        idempotency_key (str | Unset):
        body (McpBody): A server by name.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fault | McpAddResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            directory=directory,
            workspace=workspace,
            idempotency_key=idempotency_key,
        )
    ).parsed
