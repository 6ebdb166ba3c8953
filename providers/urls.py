"""HTML routes, mounted at `/t/<slug:team>/settings/`."""

from __future__ import annotations

from django.urls import path

from providers.views import key_list, keys, models, providers

app_name = "providers"

urlpatterns = [
    path("keys", keys.keys, name="keys"),
    path("models/", providers.models, name="models"),
    path("models/new", providers.provider_new, name="provider_new"),
    path("models/p/<str:provider>", providers.provider, name="provider"),
    path("models/p/<str:provider>/key", keys.provider_key, name="provider_key"),
    path(
        "models/p/<str:provider>/key/remove", keys.provider_key_remove, name="provider_key_remove"
    ),
    path("models/p/<str:provider>/keys", key_list.key_add, name="key_add"),
    path("models/p/<str:provider>/keys/<int:key>", key_list.key_change, name="key_change"),
    path("models/p/<str:provider>/keys/<int:key>/remove", key_list.key_remove, name="key_remove"),
    path("models/p/<str:provider>/address", providers.provider_address, name="provider_address"),
    path(
        "models/p/<str:provider>/connection",
        providers.provider_connection,
        name="provider_connection",
    ),
    path("models/p/<str:provider>/enabled", providers.provider_enabled, name="provider_enabled"),
    path("models/p/<str:provider>/test", keys.provider_test, name="provider_test"),
    path("models/p/<str:provider>/delete", providers.provider_delete, name="provider_delete"),
    path("models/p/<str:provider>/pick", models.models_pick, name="models_pick"),
    path("models/p/<str:provider>/models", models.model_add, name="model_add"),
]
