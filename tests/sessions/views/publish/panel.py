from __future__ import annotations

import asyncio
import html
import re
from typing import Any

from django.test import Client

from sessions.checkouts.jobs import run_job
from sessions.models import Checkout, Project, Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.runner.drains import allow_bash


def worked(alice: User, project: Project, command: str, **fields: Any) -> Session:
    session = make_session(alice, project, title="Mend the till", **fields)
    allow_bash(session)
    call = {"tool": "bash", "input": {"command": command, "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))
    return session


class Panel:
    """The panel of a session, as a person uses it without JavaScript."""

    def __init__(self, browser: Client, session: Session) -> None:
        self.browser, self.session = browser, session
        self.url = f"/t/acme/s/{session.pk}/publish"

    @property
    def row(self) -> Checkout:
        return Checkout.objects.get(pk=self.session.pk if self.session.folder else self.project)

    @property
    def project(self) -> str:
        return self.session.project_id

    def show(self) -> str:
        """Read the page, have the worker look, read it again."""
        self.browser.get(self.url)
        asyncio.run(run_job(self.row.pk))
        return html.unescape(self.browser.get(f"{self.url}?poll=1").content.decode())

    def do(self, act: str, **fields: Any) -> Checkout:
        answer = self.browser.post(f"{self.url}/{act}", fields)
        assert answer.status_code == 302, html.unescape(answer.content.decode())
        asyncio.run(run_job(self.row.pk))
        return self.row

    def refused(self, act: str, **fields: Any) -> str:
        answer = self.browser.post(f"{self.url}/{act}", fields)
        assert answer.status_code == 422
        shown = html.unescape(answer.content.decode())
        (said,) = re.findall(r'role="alert">.*?<span>(.*?)</span>', shown)[:1]
        return str(said)


def forms_of(shown: str) -> set[str]:
    return set(re.findall(r'action="[^"]*/publish/(\w+)"', shown))
