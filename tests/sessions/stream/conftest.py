from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.stream.listener import Listener
from sessions.stream.room import joined
from teams.models import User
from tests.sessions.stream.dom import Page


class Watcher:
    """Takes the frames of one listener into a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.listener = Listener()
        self.frames: list[dict[str, Any]] = []

    async def until(self, is_done: Callable[[Page], bool]) -> None:
        """Take frames until the page is as wanted; fails after five seconds without."""
        while not is_done(self.page):
            text = await asyncio.wait_for(self.listener.get(), 25)
            frame = json.loads(text)
            self.frames.append(frame)
            self.page.take(frame)

    async def reach(self, seq: int) -> None:
        await self.until(lambda page: page.cursor >= seq)


Open = Callable[[], Page]


@pytest.fixture
def load_page(session: Session, alice: User) -> Open:
    client = Client()
    client.force_login(alice)

    def load() -> Page:
        response = client.get(f"/t/acme/s/{session.pk}")
        assert response.status_code == 200
        return Page(response.content.decode())

    return load


@asynccontextmanager
async def watching(session: Session, page: Page) -> AsyncIterator[Watcher]:
    watcher = Watcher(page)
    team_id = await in_db(lambda: session.project.team_id)
    async with joined(session.pk, team_id, watcher.listener, after=page.cursor):
        yield watcher
