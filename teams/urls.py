"""HTML routes. There is no sign-up route besides `/invite/<token>`, on purpose."""

from __future__ import annotations

from allauth.account.views import account_inactive, logout
from django.urls import URLPattern, URLResolver, include, path

from teams.views import (
    audit,
    devices,
    invites,
    members,
    profile,
    roles,
    services,
    shortcuts,
    teams,
    tokens,
)
from teams.views.signin import SignInView

Routes = list[URLPattern | URLResolver]

_me: Routes = [
    path("profile", profile.profile, name="profile"),
    path("password", profile.password, name="password"),
    path("appearance", profile.appearance, name="appearance"),
    path("appearance/theme", profile.theme_save, name="theme_save"),
    path("theme.css", profile.theme_css, name="theme_css"),
    path("shortcuts", shortcuts.shortcuts, name="shortcuts"),
    path("shortcuts/list", shortcuts.shortcut_list, name="shortcut_list"),
    path("shortcuts/reset", shortcuts.shortcuts_reset, name="shortcuts_reset"),
    path("shortcuts/lone", shortcuts.shortcuts_lone, name="shortcuts_lone"),
    path("shortcuts/enter", shortcuts.shortcuts_enter, name="shortcuts_enter"),
    path("shortcuts/s/<slug:shortcut>", shortcuts.shortcut, name="shortcut"),
    path("notifications", profile.notifications, name="notifications"),
    path("devices", devices.devices, name="devices"),
    path("devices/others", devices.devices_others, name="devices_others"),
    path("devices/<int:device>", devices.device, name="device"),
    path("tokens", tokens.tokens, name="tokens"),
    path("tokens/<str:token>/revoke", tokens.token_revoke, name="token_revoke"),
]

# Mounted at the root.
account_urlpatterns: Routes = [
    path("", teams.home, name="home"),
    path("login", SignInView.as_view(), name="account_login"),
    path("logout", logout, name="account_logout"),
    path("inactive", account_inactive, name="account_inactive"),
    path("invite/<str:token>", invites.invite, name="invite"),
    path("teams/new", teams.new_team, name="new_team"),
    path("me/", include((_me, "me"))),
]

_settings: Routes = [
    path("", teams.settings_home, name="settings"),
    path("general", teams.general, name="general"),
    path("transfer", teams.transfer, name="transfer"),
    path("delete", teams.delete, name="delete"),
    path("leave", members.leave, name="leave"),
    path("members", members.members, name="members"),
    path("members/<int:member>/role", members.member_role, name="member_role"),
    path("members/<int:member>/approver", members.member_approver, name="member_approver"),
    path("members/<int:member>/remove", members.member_remove, name="member_remove"),
    path("roles", roles.roles, name="roles"),
    path("invites", invites.invite_create, name="invite_create"),
    path("invites/<str:invite>/revoke", invites.invite_revoke, name="invite_revoke"),
    path("services", services.services, name="services"),
    path("services/<int:service>", services.service, name="service"),
    path("services/<int:service>/enabled", services.service_enabled, name="service_enabled"),
    path("services/<int:service>/token", services.service_token, name="service_token"),
    path(
        "services/<int:service>/token/<str:token>/revoke",
        services.service_revoke,
        name="service_revoke",
    ),
    path("services/<int:service>/delete", services.service_delete, name="service_delete"),
    path("audit", audit.audit, name="audit"),
    path("audit.csv", audit.audit_csv, name="audit_csv"),
]

# Mounted at `/t/<slug:team>/settings/`.
team_urlpatterns: Routes = [path("", include((_settings, "teams")))]
