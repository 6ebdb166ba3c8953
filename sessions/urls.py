"""HTML routes, both lists mounted at the root; `urlpatterns` have the namespace `sessions`."""

from __future__ import annotations

from django.urls import URLPattern, include, path

from sessions.views import (
    attachments,
    checkouts,
    commands,
    fragments,
    history,
    home,
    inbox,
    mentions,
    network,
    new_project,
    panel,
    parked,
    permissions,
    projects,
    prompts,
    questions,
    repository,
    schedules,
    search,
    secrets,
    sessions,
    settings,
    skills,
    team_settings,
    transfer,
    webhooks,
)

app_name = "sessions"

root_urlpatterns: list[URLPattern] = [
    path("t/<slug:team>/", home.team_home, name="team_home"),
]

_project: list[URLPattern] = [
    path("", projects.project, name="project"),
    path("settings", projects.project_settings, name="project_settings"),
    path("delete", projects.project_delete, name="project_delete"),
    path("commands", commands.commands, name="commands"),
    path("mentions", mentions.mentions, name="mentions"),
    path("network", network.project, name="project_network"),
    path("repository", repository.repository, name="repository"),
    path("repository/trust", repository.trust, name="trust"),
    path("repository/withdraw", repository.trust_withdraw, name="trust_withdraw"),
    path("import", transfer.import_document, name="import"),
    path("clone", projects.clone, name="clone"),
    path("clone/again", projects.clone_retry, name="clone_again"),
    path("parked", parked.parked, name="parked"),
    path("parked/<str:checkout>/branch", parked.branch, name="parked_branch"),
    path("parked/<str:checkout>/discard", parked.discard, name="parked_discard"),
    path("secrets", secrets.secrets, name="secrets"),
    path("secrets/<int:secret>/remove", secrets.secret_remove, name="secret_remove"),
    path("schedules", schedules.schedules, name="schedules"),
    path("schedules/<str:schedule>", schedules.schedule, name="schedule"),
    path("schedules/<str:schedule>/run", schedules.schedule_run, name="schedule_run"),
    path("schedules/<str:schedule>/paused", schedules.schedule_paused, name="schedule_paused"),
    path("schedules/<str:schedule>/delete", schedules.schedule_delete, name="schedule_delete"),
    path("rules/<int:rule>/revoke", permissions.rule_revoke, name="rule_revoke"),
]

_session: list[URLPattern] = [
    path("", sessions.session, name="session"),
    path("/turns", sessions.turns, name="turns"),
    path("/panel", panel.panel, name="panel"),
    path("/window", fragments.window, name="window"),
    path("/file", fragments.file, name="file"),
    path("/attachment/<str:part>", attachments.attachment, name="attachment"),
    path("/part/<str:part>", fragments.part, name="part"),
    path("/part/<str:part>/body", fragments.body, name="body"),
    path("/prompt", prompts.prompt, name="prompt"),
    path("/queue/<str:prompt>/edit", inbox.edit, name="edit_queued"),
    path("/queue/<str:prompt>/deliver", inbox.deliver, name="deliver"),
    path("/queue/<str:prompt>/move", inbox.move, name="move_queued"),
    path("/queue/<str:prompt>/remove", inbox.remove, name="unqueue"),
    path("/compact", prompts.compact, name="compact"),
    path("/stop", prompts.stop, name="stop"),
    path("/resume", prompts.resume, name="resume"),
    path("/retry", prompts.retry, name="retry_now"),
    path("/permission/<str:permission>", permissions.reply, name="reply"),
    path("/question/<str:question>", questions.answer, name="answer"),
    path("/restore", history.restore, name="restore"),
    path("/file/revert", history.file_revert, name="file_revert"),
    path("/file/undo", history.file_undo, name="file_undo"),
    path("/turn/<str:turn>/menu", history.turn_menu, name="turn_menu"),
    path("/turn/<str:turn>/fork", history.turn_fork, name="turn_fork"),
    path("/turn/<str:turn>/revert", history.turn_revert, name="turn_revert"),
    path("/turn/<str:turn>/delete", history.turn_delete, name="turn_delete"),
    path("/worktree", checkouts.checkout, name="checkout"),
    path("/worktree/<str:act>", checkouts.act, name="checkout_act"),
    path("/rename", settings.rename, name="rename"),
    path("/archive", settings.archive, name="archive"),
    path("/delete", settings.delete, name="delete"),
]

_webhooks: list[URLPattern] = [
    path("", webhooks.webhooks, name="webhooks"),
    path("w/<str:webhook>", webhooks.webhook, name="webhook"),
    path("w/<str:webhook>/secret", webhooks.webhook_secret, name="webhook_secret"),
    path("w/<str:webhook>/enabled", webhooks.webhook_enabled, name="webhook_enabled"),
    path("w/<str:webhook>/ping", webhooks.webhook_ping, name="webhook_ping"),
    path("w/<str:webhook>/delete", webhooks.webhook_delete, name="webhook_delete"),
    path(
        "w/<str:webhook>/delivery/<str:delivery>/again",
        webhooks.webhook_redeliver,
        name="webhook_redeliver",
    ),
]

urlpatterns = [
    path("t/<slug:team>/rail", home.rail, name="rail"),
    path("t/<slug:team>/settings/config", team_settings.team_config, name="team_config"),
    path("t/<slug:team>/settings/network", network.team, name="team_network"),
    path("t/<slug:team>/settings/search", search.search, name="search"),
    path("t/<slug:team>/settings/search/test", search.search_test, name="search_test"),
    path("t/<slug:team>/settings/search/off", search.search_off, name="search_off"),
    path("t/<slug:team>/settings/skills/", skills.skills, name="skills"),
    path("t/<slug:team>/settings/skills/new", skills.skill_new, name="skill_new"),
    path("t/<slug:team>/settings/skills/s/<str:skill>", skills.skill, name="skill"),
    path(
        "t/<slug:team>/settings/skills/s/<str:skill>/delete",
        skills.skill_delete,
        name="skill_delete",
    ),
    path("t/<slug:team>/settings/webhooks/", include(_webhooks)),
    path("t/<slug:team>/start", prompts.start, name="start"),
    path("t/<slug:team>/p/new", new_project.project_new, name="project_new"),
    path("t/<slug:team>/p/<str:project>/", include(_project)),
    path("t/<slug:team>/s/<str:session>", include(_session)),
]
