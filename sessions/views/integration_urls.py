"""The addresses below the integrations of a project: with its forge, and with issue trackers."""

from __future__ import annotations

from django.urls import URLPattern, path

from sessions.views import github_app, integration, integration_rules, trackers

_OF_BOTH: list[URLPattern] = [
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
    path("/again/<str:failed>", integration.integration_repeat, name="integration_repeat"),
]
urlpatterns: list[URLPattern] = [
    path("", integration.integration, name="integration"),
    path("/secret", integration.integration_secret, name="integration_secret"),
    path("/app", github_app.github_app, name="github_app"),
    path("/app/created", github_app.created, name="github_app_created"),
    path("/app/installed", github_app.installed, name="github_app_installed"),
    path("/app/connect", github_app.connect, name="github_app_connect"),
    path("/app/disconnect", github_app.disconnect, name="github_app_disconnect"),
    path("/app/remove", github_app.remove, name="github_app_remove"),
    *_OF_BOTH,
]
of_trackers: list[URLPattern] = [path("", trackers.tracker, name="tracker"), *_OF_BOTH]
