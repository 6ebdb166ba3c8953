"""HTML routes: the same ones for the accounts of a team, of a person and of the instance."""

from __future__ import annotations

from django.urls import URLPattern, path

from providers.views import checks, connect, key_limits, keys, models, providers, sign_ins
from providers.views.holders import INSTANCE, OWN, TEAM

_P = "models/p/<str:provider>"


def _routes(of: str) -> list[URLPattern]:
    held = {"of": of}
    return [
        path("models/", providers.models, held, name="models"),
        path("keys" if of == TEAM else "models/keys", keys.keys, held, name="keys"),
        path("models/new", connect.choose, held, name="choose"),
        path("models/new/<str:provider>", connect.account_new, held, name="account_new"),
        path("models/new/<str:provider>/sign-in", sign_ins.begin, held, name="sign_in_begin"),
        path("models/sign-ins/<str:attempt>", sign_ins.sign_in, held, name="sign_in"),
        path("models/sign-ins/<str:attempt>/finish", sign_ins.finish, held, name="sign_in_finish"),
        path("models/sign-ins/<str:attempt>/cancel", sign_ins.cancel, held, name="sign_in_cancel"),
        path(_P, providers.provider, held, name="provider"),
        path(f"{_P}/check", checks.check, held, name="check"),
        path(f"{_P}/key", keys.provider_key, held, name="provider_key"),
        path(
            f"{_P}/key/<int:credential>/remove",
            keys.credential_remove,
            held,
            name="credential_remove",
        ),
        path(f"{_P}/key/<int:credential>/limits", key_limits.change, held, name="key_limits"),
        path(f"{_P}/connection", providers.provider_connection, held, name="provider_connection"),
        path(f"{_P}/enabled", providers.provider_enabled, held, name="provider_enabled"),
        path(f"{_P}/test", keys.provider_test, held, name="provider_test"),
        path(f"{_P}/delete", providers.provider_delete, held, name="provider_delete"),
        path(f"{_P}/pick", models.models_pick, held, name="models_pick"),
        path(f"{_P}/models", models.model_add, held, name="model_add"),
        path(f"{_P}/m/<path:model>", models.model, held, name="model"),
    ]


def _with_servers(of: str) -> list[URLPattern]:
    """A person's account is at the vendor itself, so people have no addresses of their own."""
    held = {"of": of}
    return [
        path("models/server", connect.server_new, held, name="server_new"),
        path(f"{_P}/address", providers.provider_address, held, name="provider_address"),
        *_routes(of),
    ]


# Mounted at `/t/<slug:team>/settings/`.
team_urlpatterns = [
    path("models/own-accounts", providers.own_accounts, {"of": TEAM}, name="own_accounts"),
    *_with_servers(TEAM),
]
# Mounted at `/me/`.
own_urlpatterns = _routes(OWN)
# Mounted at `/ops/`.
instance_urlpatterns = [
    path(f"{_P}/share", providers.provider_share, {"of": INSTANCE}, name="provider_share"),
    *_with_servers(INSTANCE),
]
