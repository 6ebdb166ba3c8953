"""HTML routes, both lists mounted at the root; `urlpatterns` have the namespace `sessions`."""

from __future__ import annotations

from django.urls import URLPattern, include, path

from sessions.views import (
    fragments,
    history,
    home,
    inbox,
    new_project,
    permissions,
    projects,
    prompts,
    questions,
    sessions,
    settings,
    team_settings,
    transfer,
)

app_name = "sessions"

root_urlpatterns: list[URLPattern] = [
    path("t/<slug:team>/", home.team_home, name="team_home"),
]

_project: list[URLPattern] = [
    path("", projects.project, name="project"),
    path("settings", projects.project_settings, name="project_settings"),
    path("delete", projects.project_delete, name="project_delete"),
    path("import", transfer.import_document, name="import"),
    path("clone", projects.clone, name="clone"),
    path("clone/again", projects.clone_retry, name="clone_again"),
    path("rules/<int:rule>/revoke", permissions.rule_revoke, name="rule_revoke"),
]

_session: list[URLPattern] = [
    path("", sessions.session, name="session"),
    path("/turns", sessions.turns, name="turns"),
    path("/window", fragments.window, name="window"),
    path("/file", fragments.file, name="file"),
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
    path("/turn/<str:turn>/menu", history.turn_menu, name="turn_menu"),
    path("/turn/<str:turn>/fork", history.turn_fork, name="turn_fork"),
    path("/turn/<str:turn>/revert", history.turn_revert, name="turn_revert"),
    path("/turn/<str:turn>/delete", history.turn_delete, name="turn_delete"),
    path("/rename", settings.rename, name="rename"),
    path("/archive", settings.archive, name="archive"),
    path("/delete", settings.delete, name="delete"),
]

urlpatterns = [
    path("t/<slug:team>/rail", home.rail, name="rail"),
    path("t/<slug:team>/settings/config", team_settings.team_config, name="team_config"),
    path("t/<slug:team>/start", prompts.start, name="start"),
    path("t/<slug:team>/p/new", new_project.project_new, name="project_new"),
    path("t/<slug:team>/p/<str:project>/", include(_project)),
    path("t/<slug:team>/s/<str:session>", include(_session)),
]
