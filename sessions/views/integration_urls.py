"""The addresses below the integration of a project."""

from __future__ import annotations

from django.urls import URLPattern, path

from sessions.views import github_app, integration, integration_rules

urlpatterns: list[URLPattern] = [
    path("", integration.integration, name="integration"),
    path("/secret", integration.integration_secret, name="integration_secret"),
    path("/remove", integration.integration_remove, name="integration_remove"),
    path("/link", integration.integration_link, name="integration_link"),
    path("/link/<int:linked>", integration.integration_linked, name="integration_linked"),
    path("/rules", integration_rules.integration_rules, name="integration_rules"),
    path("/rules/<str:forge_rule>", integration_rules.integration_rule, name="integration_rule"),
    path(
        "/rules/<str:forge_rule>/remove",
        integration_rules.integration_rule_remove,
        name="integration_rule_remove",
    ),
    path(
        "/rules/<str:forge_rule>/up",
        integration_rules.integration_rule_up,
        name="integration_rule_up",
    ),
    path("/app", github_app.github_app, name="github_app"),
    path("/app/created", github_app.created, name="github_app_created"),
    path("/app/installed", github_app.installed, name="github_app_installed"),
    path("/app/connect", github_app.connect, name="github_app_connect"),
    path("/app/disconnect", github_app.disconnect, name="github_app_disconnect"),
    path("/app/remove", github_app.remove, name="github_app_remove"),
    path("/again/<str:failed>", integration.integration_repeat, name="integration_repeat"),
]
