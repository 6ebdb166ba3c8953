from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.copy import Copy
from ...models.copy_body import CopyBody
from ...models.fault import Fault
from ...models.v2_project_copy_create_location import V2ProjectCopyCreateLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    project_id: str,
    *,
    body: CopyBody,
    location: V2ProjectCopyCreateLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    json_location: dict[str, Any] | Unset = UNSET
    if not isinstance(location, Unset):
        json_location = location.to_dict()
    if not isinstance(json_location, Unset):
        params.update(json_location)

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/experimental/project/{project_id}/copy".format(
            project_id=quote(str(project_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Copy | Fault:
    if response.status_code == 200:
        response_200 = Copy.from_dict(response.json())

        return response_200

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Copy | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    project_id: str,
    *,
    client: AuthenticatedClient,
    body: CopyBody,
    location: V2ProjectCopyCreateLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Copy | Fault]:
    """Begin a session with its own git worktree

    Args:
        project_id (str):
        location (V2ProjectCopyCreateLocation | Unset):
        idempotency_key (str | Unset):
        body (CopyBody): `directory` is the folder that is copied: one of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Copy | Fault]
    """

    kwargs = _get_kwargs(
        project_id=project_id,
        body=body,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    project_id: str,
    *,
    client: AuthenticatedClient,
    body: CopyBody,
    location: V2ProjectCopyCreateLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Copy | Fault | None:
    """Begin a session with its own git worktree

    Args:
        project_id (str):
        location (V2ProjectCopyCreateLocation | Unset):
        idempotency_key (str | Unset):
        body (CopyBody): `directory` is the folder that is copied: one of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Copy | Fault
    """

    return sync_detailed(
        project_id=project_id,
        client=client,
        body=body,
        location=location,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    project_id: str,
    *,
    client: AuthenticatedClient,
    body: CopyBody,
    location: V2ProjectCopyCreateLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Copy | Fault]:
    """Begin a session with its own git worktree

    Args:
        project_id (str):
        location (V2ProjectCopyCreateLocation | Unset):
        idempotency_key (str | Unset):
        body (CopyBody): `directory` is the folder that is copied: one of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Copy | Fault]
    """

    kwargs = _get_kwargs(
        project_id=project_id,
        body=body,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    project_id: str,
    *,
    client: AuthenticatedClient,
    body: CopyBody,
    location: V2ProjectCopyCreateLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Copy | Fault | None:
    """Begin a session with its own git worktree

    Args:
        project_id (str):
        location (V2ProjectCopyCreateLocation | Unset):
        idempotency_key (str | Unset):
        body (CopyBody): `directory` is the folder that is copied: one of the project.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Copy | Fault
    """

    return (
        await asyncio_detailed(
            project_id=project_id,
            client=client,
            body=body,
            location=location,
            idempotency_key=idempotency_key,
        )
    ).parsed
