from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fault import Fault
from ...models.v2_credential_remove_location import V2CredentialRemoveLocation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    credential_id: str,
    *,
    location: V2CredentialRemoveLocation | Unset = UNSET,
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
        "method": "delete",
        "url": "/api/credential/{credential_id}".format(
            credential_id=quote(str(credential_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Fault:
    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    response_default = Fault.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | Fault]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    credential_id: str,
    *,
    client: AuthenticatedClient,
    location: V2CredentialRemoveLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any | Fault]:
    """Forget a credential

    Args:
        credential_id (str):
        location (V2CredentialRemoveLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Fault]
    """

    kwargs = _get_kwargs(
        credential_id=credential_id,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    credential_id: str,
    *,
    client: AuthenticatedClient,
    location: V2CredentialRemoveLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Any | Fault | None:
    """Forget a credential

    Args:
        credential_id (str):
        location (V2CredentialRemoveLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Fault
    """

    return sync_detailed(
        credential_id=credential_id,
        client=client,
        location=location,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    credential_id: str,
    *,
    client: AuthenticatedClient,
    location: V2CredentialRemoveLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any | Fault]:
    """Forget a credential

    Args:
        credential_id (str):
        location (V2CredentialRemoveLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Fault]
    """

    kwargs = _get_kwargs(
        credential_id=credential_id,
        location=location,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    credential_id: str,
    *,
    client: AuthenticatedClient,
    location: V2CredentialRemoveLocation | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Any | Fault | None:
    """Forget a credential

    Args:
        credential_id (str):
        location (V2CredentialRemoveLocation | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Fault
    """

    return (
        await asyncio_detailed(
            credential_id=credential_id,
            client=client,
            location=location,
            idempotency_key=idempotency_key,
        )
    ).parsed
