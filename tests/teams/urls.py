from __future__ import annotations

from django.http import HttpResponse
from django.urls import include, path

from teams.http import TeamRequest, team_view
from teams.urls import account_urlpatterns, team_urlpatterns


@team_view()
def team_home(request: TeamRequest) -> HttpResponse:
    return HttpResponse(f"home of {request.team.slug}")


urlpatterns = [
    path("t/<slug:team>/", team_home, name="team_home"),
    path("t/<slug:team>/settings/", include(team_urlpatterns)),
    path("", include(account_urlpatterns)),
]
