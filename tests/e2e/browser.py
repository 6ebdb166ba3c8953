from __future__ import annotations

import asyncio
import atexit
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests.e2e.installation import PASSWORD, Installation

# A page takes a third of the time in the part of Chromium that has no window of its own, which
# Debian has as a package, too.
PROGRAM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or ""
in_chromium = [
    pytest.mark.e2e,
    pytest.mark.skipif(not PROGRAM, reason="chromium is not installed"),
]
of_page = [*in_chromium, pytest.mark.any_database]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No page lives long enough to earn back what its scripts cost to optimise.
    "--js-flags=--no-opt --no-maglev",
)


class _Chromium:
    """Playwright and its browsers by their program, for all tests of this process.

    Between two calls Playwright leaves its event loop marked as the running one of the thread. The
    mark is taken away where no browser is used: a test there may run a loop of its own.
    """

    def __init__(self) -> None:
        self._context = sync_playwright()
        self._browsers: dict[str, Browser] = {}
        self._driver: Playwright | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def used(self, program: str) -> Iterator[Browser]:
        before = asyncio._get_running_loop()
        if self._driver is None:
            self._driver = self._context.start()
            self._loop = asyncio.get_running_loop()
            atexit.register(self._close)
        asyncio._set_running_loop(self._loop)
        try:
            if program not in self._browsers or not self._browsers[program].is_connected():
                launch = self._driver.chromium.launch
                self._browsers[program] = launch(executable_path=program, args=list(FLAGS))
            yield self._browsers[program]
        finally:
            asyncio._set_running_loop(before)

    def _close(self) -> None:
        asyncio._set_running_loop(self._loop)
        self._context.__exit__()
        asyncio._set_running_loop(None)


_chromium = _Chromium()


@contextmanager
def chromium(*, whole: bool = False) -> Iterator[Browser]:
    """Debian's Chromium, without a display. `whole`: with what is around a page, too."""
    program = shutil.which("chromium") if whole else PROGRAM
    assert program, "chromium is not installed"
    # What comes takes longer while other tests share the processors.
    expect.set_options(timeout=15_000)
    with _chromium.used(program) as browser:
        yield browser


@contextmanager
def signed_in_as(
    browser: Browser, server: Installation, email: str, *, anew: bool = False
) -> Iterator[BrowserContext]:
    """A browser of one person, as wide as a desktop. `anew`: may be signed out."""
    with browser.new_context(
        viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    ) as context:
        is_shared = email == server.email and not anew
        cookie = server.cookie if is_shared else server.sign_in(email)
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": server.url}])
        yield context


def sign_in(page: Page, email: str) -> None:
    page.get_by_label("E-mail", exact=True).fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


@contextmanager
def watched(context: BrowserContext, *, console: bool = False, cut: str = "") -> Iterator[Page]:
    """A page whose scripts must not fail, nor complain with `console`, but for `cut`."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(error.stack or str(error)))
    if console:
        page.on("console", lambda m: problems.append(_said(m)) if m.type == "error" else None)
    yield page
    page.close()
    found = [problem for problem in problems if not (cut and problem.startswith(cut))]
    assert found == [], found


def _said(message: ConsoleMessage) -> str:
    # Which address it was that the server refused is not in the text.
    return f"{message.text} {message.location.get('url', '')}"


@contextmanager
def phone(signed_in: BrowserContext) -> Iterator[Page]:
    """A page of the same person on a phone, which has fingers in place of a pointer."""
    assert signed_in.browser is not None
    with (
        signed_in.browser.new_context(
            viewport={"width": 390, "height": 844},
            has_touch=True,
            is_mobile=True,
            reduced_motion="reduce",
            storage_state=signed_in.storage_state(),
        ) as context,
        watched(context, console=True) as page,
    ):
        yield page
