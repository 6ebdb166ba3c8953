from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from sessions.models import Session
from teams.models import User
from tests.sessions.checkouts.conftest import run
from tests.sessions.views.publish.panel import Panel

ClientFor = Callable[[User | None], Client]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_it_makes_and_renames_branches(browser: Client, own: Session, shop: Path) -> None:
    folder, panel = Path(own.folder), Panel(browser, own)
    panel.show()
    first = panel.row.branch
    row = panel.do("rename", name="feature/till")
    assert not row.job_failed, row.job_detail
    assert row.branch == "feature/till"
    assert run("git branch --format='%(refname:short)'", folder) == "feature/till\nmain\n"
    assert panel.do("switch", name="second").branch == "second"
    assert run("git branch --format='%(refname:short)'", folder) == "feature/till\nmain\nsecond\n"
    row = panel.do("switch", name="main")
    assert row.job_failed
    assert "There is a branch main already" in row.job_detail
    assert row.branch == "second"
    for bad in ("-x", "a..b", "a b", "HEAD", "a\nb", "x.lock", "@{u}", ""):
        assert "not a valid branch name" in panel.refused("rename", name=bad)
    assert first != "second"


def test_a_viewer_reads_it_and_an_outsider_does_not(
    client_for: ClientFor, vera: User, charlie: User, own: Session
) -> None:
    url = f"/t/acme/s/{own.pk}/publish"
    assert client_for(vera).get(url).status_code == 200
    for act in ("commit", "push", "switch", "rename", "request"):
        assert client_for(vera).post(f"{url}/{act}").status_code == 403
        assert client_for(charlie).post(f"{url}/{act}").status_code == 404
    assert client_for(charlie).get(url).status_code == 404
    assert client_for(vera).post(f"{url}/look").status_code == 403


def test_htmx_gets_the_fragment_and_the_session_leads_there(browser: Client, own: Session) -> None:
    url = f"/t/acme/s/{own.pk}/publish"
    shown = browser.get(url, headers={"hx-request": "true"}).content.decode()
    assert shown.lstrip().startswith("<section")
    assert f'hx-get="{url}?poll=1"' in shown
    session = f"/t/acme/s/{own.pk}"
    assert f'href="{url}"' in browser.get(session).content.decode()
    assert f'href="{url}"' in browser.get(f"{session}?panel=changes").content.decode()


def test_the_page_asks_so_much(
    browser: Client, own: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    panel = Panel(browser, own)
    panel.show()
    with django_assert_max_num_queries(22):
        browser.get(f"{panel.url}?poll=1")
