from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from sessions.models import Project, Session


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # one class for several models
    """Rows are folded from the log: looking is fine, changing would make them lie.

    Operators see nothing of a team's work, so no column has its words, and no row a page.
    """

    list_display_links = None

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return obj is None and super().has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "owner", "state", "outcome", "cost", "updated_at")
    list_filter = ("state", "outcome")
    search_fields = ("id",)


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "team", "host", "directory", "status")
