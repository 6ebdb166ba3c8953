"""HTML routes, mounted at `/t/<slug:team>/settings/models/`."""

from __future__ import annotations

from django.urls import path

from providers.views import models, providers

app_name = "providers"

urlpatterns = [
    path("", providers.models, name="models"),
    path("new", providers.provider_new, name="provider_new"),
    path("p/<str:provider>", providers.provider, name="provider"),
    path("p/<str:provider>/key", providers.provider_key, name="provider_key"),
    path("p/<str:provider>/address", providers.provider_address, name="provider_address"),
    path("p/<str:provider>/enabled", providers.provider_enabled, name="provider_enabled"),
    path("p/<str:provider>/test", providers.provider_test, name="provider_test"),
    path("p/<str:provider>/delete", providers.provider_delete, name="provider_delete"),
    path("p/<str:provider>/pick", models.models_pick, name="models_pick"),
    path("p/<str:provider>/models", models.model_add, name="model_add"),
]
