"""Raw rows for operators, read-only: what has rules is changed by its pages."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from teams.actions.attempts import unlock_account
from teams.http import client_ip
from teams.models import ApiToken, AuditEntry, Invite, Membership, Team, User
from teams.policy import require_instance_policy

# The admin's own sign-in has no rate limit; this sends people to ours.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

# What allauth registers for itself can be changed, and shows keys that are as good as a sign-in.
for _model in (UserSession, Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)


_may_open = admin.site.has_permission


def _has_permission(request: HttpRequest) -> bool:
    """Whether somebody may see the admin. Raises: PolicyUnmet."""
    if not _may_open(request):
        return False
    assert isinstance(request.user, User)
    require_instance_policy(request.user)
    return True


admin.site.has_permission = _has_permission  # type: ignore[method-assign]


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    list_display = ("email", "name", "is_active", "is_superuser", "last_login", "created_at")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("email", "name")
    exclude = ("password",)
    actions = ("unlock",)

    @admin.action(description=_("Unlock sign-in"), permissions=["view"])
    def unlock(self, request: HttpRequest, people: QuerySet[User]) -> None:
        assert isinstance(request.user, User)
        for person in people:
            unlock_account(person, actor=request.user, ip=client_ip(request))
        self.message_user(request, _("They can sign in again."))


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    list_display = ("slug", "name", "id", "created_at")
    search_fields = ("slug", "name", "id")
    # Holds what a team wrote; operators do not read it in passing.
    exclude = ("config",)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("team", "user", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("team", "user")


@admin.register(Invite)
class InviteAdmin(ReadOnlyAdmin):
    list_display = ("id", "team", "role", "email", "expires_at", "accepted_at", "revoked_at")
    list_select_related = ("team",)
    exclude = ("digest",)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ("prefix", "name", "user", "team", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("user", "team")
    exclude = ("digest",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("time", "actor_email", "team_id", "action", "target_type", "target_id", "ip")
    list_filter = ("action",)
    date_hierarchy = "time"
    fields = (
        "time",
        "actor_email",
        "team_id",
        "action",
        "target_type",
        "target_id",
        "data",
        "ip",
    )
    readonly_fields = ("team_id",)
