from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project, Schedule, ScheduleRun
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
GIVEN = {
    "name": "Nightly",
    "prompt": "Look <b>around</b>.",
    "cron": "30 6 * * *",
    "timezone": "Europe/Berlin",
    "model": "demo/inline",
}


@pytest.fixture
def url(project: Project) -> str:
    return f"/t/acme/p/{project.pk}/schedules"


def test_a_member_makes_runs_pauses_and_deletes_one(
    bob: User, url: str, client_for: ClientFor
) -> None:
    browser = client_for(bob)
    assert "No schedules yet" in browser.get(url).content.decode()
    made = browser.post(url, GIVEN)
    row = Schedule.objects.get()
    page = f"{url}/{row.pk}"
    assert made["Location"] == page
    assert "Nightly" in browser.get(url).content.decode()
    shown = browser.get(page).content.decode()
    assert "Next run:" in shown
    assert "No runs yet" in shown
    assert "Look &lt;b&gt;around&lt;/b&gt;." in shown
    assert browser.post(f"{page}/run")["Location"] == page
    run = ScheduleRun.objects.get()
    assert run.session is not None
    assert f"/t/acme/s/{run.session.pk}" in browser.get(page).content.decode()
    assert browser.post(f"{page}/paused", {"paused": "1"})["Location"] == page
    assert "Bob paused it." in browser.get(page).content.decode()
    for german in (browser.get(one, headers={"Accept-Language": "de"}) for one in (page, url)):
        assert "Bob hat ihn pausiert." in german.content.decode()
    browser.post(f"{page}/paused", {"paused": "0"})
    assert "Next run:" in browser.get(page).content.decode()
    assert browser.post(page, {**GIVEN, "name": "Weekly"})["Location"] == page
    row.refresh_from_db()
    assert row.name == "Weekly"
    assert "Its sessions are kept" in browser.get(f"{page}/delete").content.decode()
    assert browser.post(f"{page}/delete")["Location"] == url
    assert not Schedule.objects.exists()


def test_a_viewer_reads_only(bob: User, vera: User, url: str, client_for: ClientFor) -> None:
    client_for(bob).post(url, GIVEN)
    row, browser = Schedule.objects.get(), client_for(vera)
    assert "New schedule" not in browser.get(url).content.decode()
    page = browser.get(f"{url}/{row.pk}").content.decode()
    assert "Run now" not in page
    assert "<textarea" not in page
    assert "Look &lt;b&gt;around" in page


def test_a_wrong_form_says_what_is_wrong(bob: User, url: str, client_for: ClientFor) -> None:
    refused = client_for(bob).post(url, {**GIVEN, "cron": "* * * * *"})
    assert refused.status_code == 422
    assert "every 5 minutes at most" in refused.content.decode()


def test_the_list_takes_few_queries(
    bob: User, url: str, client_for: ClientFor, django_assert_max_num_queries: object
) -> None:
    browser = client_for(bob)
    for number in range(5):
        browser.post(url, {**GIVEN, "name": f"Plan {number}"})
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        browser.get(url)


def test_days_and_a_time_are_enough(bob: User, url: str, client_for: ClientFor) -> None:
    browser = client_for(bob)
    given = {name: text for name, text in GIVEN.items() if name != "cron"}
    assert "data-own-zone" in browser.get(url).content.decode()
    refused = browser.post(url, {**given, "time": "06:30"})
    assert refused.status_code == 422
    assert "Choose at least one day." in refused.content.decode()
    assert "data-own-zone" not in refused.content.decode()
    browser.post(url, {**given, "days": ["1", "3"], "time": "06:30"})
    row = Schedule.objects.get()
    assert row.cron == "30 6 * * 1,3"
    shown = browser.get(f"{url}/{row.pk}").content.decode()
    assert "Mondays and Wednesdays at 06:30 (Europe/Berlin)" in shown
    assert 'value="06:30"' in shown
    # An expression counts before them.
    browser.post(f"{url}/{row.pk}", {**given, "days": ["1"], "time": "06:30", "cron": "0 7 1 * *"})
    row.refresh_from_db()
    assert row.cron == "0 7 1 * *"
