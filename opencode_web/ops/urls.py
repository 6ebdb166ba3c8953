from __future__ import annotations

from django.urls import URLPattern, path

from opencode_web.ops import (
    acts,
    addresses,
    backups,
    budgets,
    catalog,
    emergency,
    folders,
    identity,
    limits,
    trail_views,
    views,
)

app_name = "ops"

urlpatterns: list[URLPattern] = [
    path("", views.overview, name="overview"),
    path("workers", views.workers, name="workers"),
    path("turns", views.turns, name="turns"),
    path("queues", views.queues, name="queues"),
    path("events", trail_views.events, name="events"),
    path("health", views.health, name="health"),
    path("health/findings", views.findings, name="findings"),
    path("addresses", addresses.addresses, name="addresses"),
    path("addresses/close", addresses.address_close, name="address_close"),
    path("emergency", emergency.emergency, name="emergency"),
    path("emergency/<int:member>/end", emergency.emergency_end, name="emergency_end"),
    path("limits", limits.limits, name="limits"),
    path("limits/<str:team>", limits.limit, name="limit"),
    path("budgets", budgets.budgets, name="budgets"),
    path("budgets/<int:budget>/remove", budgets.remove, name="budget_remove"),
    path("budgets/requests/<str:asked>", budgets.answer, name="budget_answer"),
    path("identity", identity.identity, name="identity"),
    path("identity/policy", identity.policy, name="policy"),
    path("identity/reset", identity.reset_link, name="reset_link"),
    path("identity/new/<slug:kind>", identity.provider_new, name="provider_new"),
    path("identity/p/<slug:slug>", identity.provider, name="provider"),
    path("identity/p/<slug:slug>/delete", identity.provider_delete, name="provider_delete"),
    path("identity/p/<slug:slug>/rules", identity.rule_add, name="rule_add"),
    path("identity/p/<slug:slug>/rules/<int:rule>", identity.rule_remove, name="rule_remove"),
    path("catalog", catalog.catalog, name="catalog"),
    path("audit", trail_views.audit, name="audit"),
    path("audit.csv", trail_views.audit_csv, name="audit_csv"),
    path("backups", backups.backups, name="backups"),
    path("folders", folders.folders, name="folders"),
    path("folders/<int:folder>", folders.folder, name="folder"),
    path("turns/<str:session>", acts.turn, name="turn"),
    path("turns/<str:session>/<slug:act>", acts.turn_act, name="turn_act"),
    path("workers/<str:process>", acts.process, name="process"),
    path("workers/<str:process>/<slug:act>", acts.process_act, name="process_act"),
]
