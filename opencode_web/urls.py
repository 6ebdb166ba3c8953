from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from teams.urls import account_urlpatterns, team_urlpatterns

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("t/<slug:team>/settings/", include(team_urlpatterns)),
    path("", include(account_urlpatterns)),
    path("", include("opencode_web.api")),
]
