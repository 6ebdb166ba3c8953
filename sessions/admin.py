from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from sessions.models import PermissionRequest, Project, SavedRule, Session


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # one class for several models
    """Rows are folded from the log: looking is fine, changing would make them lie."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = ("id", "title", "project", "owner", "state", "outcome", "cost", "updated_at")
    list_filter = ("state", "outcome")
    search_fields = ("id", "title")


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "team", "host", "directory", "status")


admin.site.register([PermissionRequest, SavedRule], ReadOnlyAdmin)
