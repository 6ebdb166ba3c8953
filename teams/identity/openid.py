"""OpenID Connect as allauth has it, with a nonce, and a signature that is always checked."""

from __future__ import annotations

import secrets
from typing import Any

import requests
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.internal.jwtkit import lookup_kid_jwk, verify_and_decode
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2Adapter, OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from opencode_web.lib.errors import NotFound
from teams.models import IdentityProvider

_NONCE = "nonce"


class IdTokenAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth ships no types
    """Discovery and exchange, checked for the mistakes that allauth leaves to the provider."""

    @property
    def openid_config(self) -> dict[str, Any]:  # the provider's own JSON
        """Raises: OAuth2Error when the provider cannot be asked, or is another one."""
        try:
            config: dict[str, Any] = super().openid_config
            wanted = self.get_provider().app.settings["server_url"].rstrip("/")
            if str(config["issuer"]).rstrip("/") != wanted:
                raise OAuth2Error("the discovery document names another issuer")
            return {**config, "token_endpoint": config["token_endpoint"]}
        except (requests.RequestException, ValueError, KeyError, TypeError) as exc:
            raise OAuth2Error(f"discovery failed: {exc}") from exc

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:  # allauth's own shapes
        try:
            token: dict[str, Any] = verify_and_decode(
                credential=id_token,
                keys_url=self.openid_config["jwks_uri"],
                issuer=self.openid_config["issuer"],
                audience=app.client_id,
                lookup_kid=lookup_kid_jwk,
            )
        except (requests.RequestException, ValueError, KeyError) as exc:
            raise OAuth2Error("the keys of the provider cannot be read") from exc
        if token.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the ID token was made for another client")
        return token

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """Raises: OAuth2Error without an ID token, or when userinfo is of somebody else."""
        if not kwargs["response"].get("id_token"):
            raise OAuth2Error("there is no ID token")
        login = super().complete_login(request, app, token, **kwargs)
        data = login.account.extra_data
        if data.get("userinfo", data["id_token"]).get("sub") != data["id_token"].get("sub"):
            raise OAuth2Error("userinfo is about another person")
        return login


class NonceProvider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth ships no types
    """Binds the ID token to this browser's sign-in."""

    oauth2_adapter_class = IdTokenAdapter

    def redirect(self, request: HttpRequest, process: str, **kwargs: Any) -> HttpResponse:
        """Send the browser to the provider. `kwargs` are those of allauth."""
        nonce = secrets.token_urlsafe(24)
        params = {**self.get_auth_params(), _NONCE: nonce}
        response: HttpResponse = super().redirect(
            request, process, auth_params=params, nonce=nonce, **kwargs
        )
        return response


def has_right_nonce(login: SocialLogin) -> bool:
    """Whether the ID token answers the sign-in that this browser began. True without one."""
    token = login.account.extra_data.get("id_token")
    if not isinstance(token, dict):
        return True
    wanted = login.state.get(_NONCE)
    return bool(wanted) and secrets.compare_digest(str(token.get(_NONCE)), wanted)


def openid_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where a provider sends the browser back to."""
    return _come_back(request, IdTokenAdapter(request, provider_id))


def github_callback(request: HttpRequest) -> HttpResponse:
    """Where GitHub sends the browser back to."""
    return _come_back(request, GitHubOAuth2Adapter(request))


def _come_back(request: HttpRequest, adapter: OAuth2Adapter) -> HttpResponse:
    try:
        response: HttpResponse = OAuth2CallbackView.adapter_view(adapter)(request)
    except SocialApp.DoesNotExist as exc:
        raise NotFound("Page") from exc
    except OAuth2Error as exc:
        # allauth asks for the discovery document before it looks for faults.
        return failed(request, adapter.get_provider().sub_id, exc)
    return response


def failed(request: HttpRequest, slug: str, exc: Exception) -> HttpResponse:
    """Go back to where it began with a sentence."""
    row = IdentityProvider.objects.get(slug=slug)
    response: HttpResponse = render_authentication_error(request, row, exception=exc)
    return response


def begin(request: HttpRequest, slug: str, *, process: str, next_url: str) -> HttpResponse:
    """Send the browser to a provider of any kind. Raises: NotFound."""
    try:
        provider = get_adapter(request).get_provider(request, slug)
        response: HttpResponse = provider.redirect(
            request, process=process, next_url=next_url or None
        )
    except SocialApp.DoesNotExist as exc:
        raise NotFound("Page") from exc
    except OAuth2Error as exc:
        return failed(request, slug, exc)
    url = response.get("Location", "")
    if not url.startswith("http"):
        return response  # it went wrong, and stays on this server
    return render(request, "account/leaving.html", {"url": url, "provider": provider})
