from __future__ import annotations

import socket
import urllib.request
from base64 import b64encode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib import metrics
from providers.models import KeyUse, ProviderConfig
from sessions.models import Session
from teams.models import Scope, Team, User
from tests.factories import make_token
from tests.providers.factories import make_openai
from tests.sessions.factories import make_project, make_session, prompt

pytestmark = pytest.mark.django_db


def value_of(text: str, name: str) -> float:
    line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.rpartition(" ")[2])


@pytest.fixture
def operator(alice: User) -> User:
    alice.is_superuser = True
    alice.save()
    return alice


def test_operators_see_what_waits(
    operator: User, team: Team, client: Client, tmp_path: Path
) -> None:
    session = make_session(operator, make_project(team, tmp_path / "shop"))
    prompt(operator, session, "hello")
    hour_ago = timezone.now() - timedelta(hours=1)
    Session.objects.filter(pk=session.pk).update(state_since=hour_ago)
    client.force_login(operator)
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    text = answer.content.decode()
    assert value_of(text, 'opencode_web_sessions{state="busy"}') == 1
    assert value_of(text, 'opencode_web_sessions{state="waiting"}') == 0
    assert value_of(text, "opencode_web_runnable_sessions") == 1
    assert value_of(text, "opencode_web_inputs") == 1
    assert 3600 <= value_of(text, "opencode_web_queue_age_seconds") < 3700
    assert value_of(text, 'opencode_web_leases{state="live"}') == 0


def test_an_idle_server_has_no_queue(operator: User, client: Client) -> None:
    client.force_login(operator)
    text = client.get("/metrics").content.decode()
    assert value_of(text, "opencode_web_queue_age_seconds") == 0
    assert value_of(text, 'opencode_web_sessions{state="busy"}') == 0


def test_what_is_paused_or_in_line_at_providers_is_counted(
    operator: User, team: Team, client: Client
) -> None:
    row = make_openai(team)
    later = timezone.now() + timedelta(seconds=60)
    ProviderConfig.objects.update(failures=5, open_until=later)
    KeyUse.objects.create(account=row, call="ses_1", alive_until=later)
    client.force_login(operator)
    text = client.get("/metrics").content.decode()
    paused = 'opencode_web_provider_circuits_open{part="address",provider="openai"}'
    assert value_of(text, paused) == 1
    line = 'opencode_web_provider_calls_in_line{provider="openai",state="waiting"}'
    assert value_of(text, line) == 1


def test_the_number_of_queries_does_not_depend_on_the_rows(
    operator: User,
    team: Team,
    client: Client,
    tmp_path: Path,
    django_assert_max_num_queries: Any,
) -> None:
    project = make_project(team, tmp_path / "shop")
    for _ in range(5):
        prompt(operator, make_session(operator, project), "hello")
    client.force_login(operator)
    with django_assert_max_num_queries(14):
        client.get("/metrics")


def test_others_are_refused(alice: User, client: Client) -> None:
    assert client.get("/metrics").status_code == 401
    client.force_login(alice)
    assert client.get("/metrics").status_code == 403


def test_an_operators_token_needs_the_scope_admin(
    operator: User, team: Team, client: Client
) -> None:
    for scope, status in ((Scope.WRITE, 403), (Scope.ADMIN, 200)):
        _, secret = make_token(operator, team, scope)
        header = {"Authorization": f"Bearer {secret}"}
        assert client.get("/metrics", headers=header).status_code == status


@pytest.mark.usefixtures("db")
def test_prometheus_has_a_token_of_its_own(client: Client, settings: Any) -> None:
    header = {"Authorization": "Bearer scrape-me"}
    assert client.get("/metrics", headers=header).status_code == 401
    settings.METRICS_TOKEN = "scrape-me"
    assert client.get("/metrics", headers=header).status_code == 200
    basic = {"Authorization": f"Basic {b64encode(b':scrape-me').decode()}"}
    assert client.get("/metrics", headers=basic).status_code == 401


def test_a_worker_serves_what_it_measured_on_the_next_free_port() -> None:
    metrics.observe_operation("turn", name="", outcome="completed", seconds=0.2)
    metrics.count_provider_error("RateLimited", status=429)
    metrics.observe_event_lag(0.004)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = taken.getsockname()[1]
        port = metrics.listen(first, host="127.0.0.1")
    assert port > first
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    turn = '{name="",operation="turn",outcome="completed"}'
    assert value_of(text, f"opencode_web_operation_seconds_count{turn}") >= 1
    errors = 'opencode_web_provider_errors_total{error="RateLimited",status="429"}'
    assert value_of(text, errors) >= 1
    assert value_of(text, "opencode_web_event_lag_seconds_count") >= 1
