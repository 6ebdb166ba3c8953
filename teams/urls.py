"""HTML routes. There is no sign-up route besides `/invite/<token>`, on purpose."""

from __future__ import annotations

from importlib import import_module

from allauth.account.views import account_inactive, logout, reauthenticate
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from django.urls import URLPattern, URLResolver, include, path

from teams.identity.openid import github_callback, openid_callback
from teams.identity.providers import has_saml
from teams.views import (
    announcements,
    audit,
    devices,
    groups,
    invites,
    members,
    profile,
    roles,
    security,
    services,
    shortcuts,
    signin,
    teams,
    tokens,
)

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
    path("devices", devices.devices, name="devices"),
    path("devices/others", devices.devices_others, name="devices_others"),
    path("devices/<int:device>", devices.device, name="device"),
    path("tokens", tokens.tokens, name="tokens"),
    path("tokens/<str:token>/revoke", tokens.token_revoke, name="token_revoke"),
]

# Under the names by which allauth links them.
_security: Routes = [
    path("again", reauthenticate, name="account_reauthenticate"),
    path("again/code", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("again/key", webauthn.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path("app", security.SetUpTotpView.as_view(), name="mfa_activate_totp"),
    path("app/remove", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("codes", security.RecoveryCodesView.as_view(), name="mfa_view_recovery_codes"),
    path("codes/new", recovery_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("codes/file", recovery_codes.download_recovery_codes, name="mfa_download_recovery_codes"),
    path("keys/new", security.AddKeyView.as_view(), name="mfa_add_webauthn"),
    path("keys/<int:pk>/remove", security.RemoveKeyView.as_view(), name="mfa_remove_webauthn"),
    path(
        "providers/<slug:slug>/disconnect",
        security.provider_disconnect,
        name="provider_disconnect",
    ),
]
# Where providers send browsers back to.
_returns: Routes = [
    path("<slug:provider_id>/return", openid_callback, name="openid_connect_callback"),
    path("github/return/oauth", github_callback, name="github_callback"),
]
if has_saml():
    saml = import_module("allauth.socialaccount.providers.saml.views")
    _returns += [
        path("<slug:organization_slug>/acs", saml.acs, name="saml_acs"),
        path("<slug:organization_slug>/acs/finish", saml.finish_acs, name="saml_finish_acs"),
        path("<slug:organization_slug>/sls", saml.sls, name="saml_sls"),
        path("<slug:organization_slug>/metadata", saml.metadata, name="saml_metadata"),
    ]

# Mounted at the root.
account_urlpatterns: Routes = [
    path("", teams.home, name="home"),
    path(
        "announcements/<int:announcement>/hide",
        announcements.announcement_hide,
        name="announcement_hide",
    ),
    path("login", signin.SignInView.as_view(), name="account_login"),
    path("login/code", mfa.authenticate, name="mfa_authenticate"),
    path("login/passkey", webauthn.login_webauthn, name="mfa_login_webauthn"),
    path("login/company", signin.sign_in_company, name="sign_in_company"),
    path("login/with/<slug:slug>", signin.sign_in_with, name="sign_in_with"),
    path("login/forgot", signin.forgot, name="forgot"),
    path("login/reset/<str:token>", signin.reset, name="reset"),
    path("sso/", include(_returns)),
    path("logout", logout, name="account_logout"),
    path("inactive", account_inactive, name="account_inactive"),
    path("invite/<str:token>", invites.invite, name="invite"),
    path("teams/new", teams.new_team, name="new_team"),
    path("me/", include((_me, "me"))),
    path("me/security", security.SecurityView.as_view(), name="mfa_index"),
    path("me/security/", include(_security)),
]

_settings: Routes = [
    path("", teams.settings_home, name="settings"),
    path("general", teams.general, name="general"),
    path("policy", teams.policy, name="policy"),
    path("transfer", teams.transfer, name="transfer"),
    path("delete", teams.delete, name="delete"),
    path("leave", members.leave, name="leave"),
    path("members", members.members, name="members"),
    path("members/<int:member>/role", members.member_role, name="member_role"),
    path("members/<int:member>/approver", members.member_approver, name="member_approver"),
    path("members/<int:member>/remove", members.member_remove, name="member_remove"),
    path("members/tokens/<str:token>/revoke", members.member_token, name="member_token"),
    path("roles", roles.roles, name="roles"),
    path("invites", invites.invite_create, name="invite_create"),
    path("invites/<str:invite>/revoke", invites.invite_revoke, name="invite_revoke"),
    path("groups", groups.groups, name="groups"),
    path("groups/<str:group>", groups.group, name="group"),
    path("groups/<str:group>/members", groups.group_member, name="group_member"),
    path("groups/<str:group>/delete", groups.group_delete, name="group_delete"),
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
    path("emergencies/<int:entry>/dismiss", audit.emergency_dismiss, name="emergency_dismiss"),
    path("audit", audit.audit, name="audit"),
    path("audit.csv", audit.audit_csv, name="audit_csv"),
]

# Mounted at `/t/<slug:team>/settings/`.
team_urlpatterns: Routes = [path("", include((_settings, "teams")))]
