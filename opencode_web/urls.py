from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from opencode_web import installable, views
from opencode_web.metrics import metrics
from opencode_web.personal_data import personal_data, personal_data_file
from opencode_web.readiness import ready
from opencode_web.transfer import views as transfer
from providers.urls import instance_urlpatterns as models_of_instance
from providers.urls import own_urlpatterns as models_of_people
from providers.urls import team_urlpatterns as models_of_teams
from providers.views.sign_in import sign_in_return
from sessions.urls import root_urlpatterns as session_pages
from teams.urls import account_urlpatterns, team_urlpatterns

_site: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("setup", views.setup, name="setup"),
    path("manifest.webmanifest", installable.manifest, name="manifest"),
    path("sw.js", installable.service_worker, name="service_worker"),
    path("offline", installable.offline, name="offline"),
    path("metrics", metrics, name="metrics"),
    path("global/ready", ready, name="ready"),
    path("docs", include("opencode_web.docs.urls")),
    path("ops/", include("opencode_web.ops.urls")),
    path("t/<slug:team>/settings/export", transfer.export, name="team_export"),
    path(
        "t/<slug:team>/settings/export/<str:export>",
        transfer.export_download,
        name="team_export_download",
    ),
    path("me/data", personal_data, name="me_data"),
    path("me/data.json", personal_data_file, name="me_data_file"),
    path("scim/v2", include("opencode_web.scim.urls")),
    path("sign-in/return", sign_in_return, name="sign_in_return"),
    path("", include(session_pages)),
    path("", include("sessions.urls")),
    path("t/<slug:team>/settings/", include((models_of_teams, "providers"))),
    path("me/", include((models_of_people, "my_models"))),
    path("ops/", include((models_of_instance, "instance_models"))),
    path("t/<slug:team>/settings/", include(team_urlpatterns)),
    path("", include(account_urlpatterns)),
    path("", include("opencode_web.mcp_server.urls")),
    path("", include("opencode_web.api")),
]

# In the routes, for a script prefix is one thread's: workers and sockets make addresses, too.
_base = settings.BASE_PATH.lstrip("/")
urlpatterns: list[URLPattern | URLResolver] = (
    [
        path("", include("opencode_web.mcp_server.root_urls")),
        path(f"{_base}/", include(_site)),
        path(_base, RedirectView.as_view(pattern_name="home")),
        path("", RedirectView.as_view(pattern_name="home")),
        # For health checks that know only the port.
        path("global/ready", ready),
    ]
    if _base
    else _site
)
