"""What a person sees in Chromium: first load, first paint, first key, and chunks as they stream."""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from playwright.async_api import Browser, BrowserContext, Error, Page, async_playwright

from bench.api import TIMEOUT_S, Api
from bench.live import signed_in, watching
from bench.npm import Unavailable
from bench.requests import following
from bench.server import Server
from bench.stats import median, percentile

TURNS, LOADS, SLOWED = 10, 5, 4
CHUNKS, GAP_MS = 100, 50
WHEELS = 60
_COUNT = 'document.querySelectorAll("*").length'
_FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
_SIZE = {"width": 1440, "height": 900}
# Where a message is written: ours, and the genuine page's.
_FIELD = "#prompt, [contenteditable=true], textarea"
# When a text was first in the page, and each stamp after the frame that shows it. Milliseconds of
# the page's own clock, whose zero is `performance.timeOrigin`.
_WATCH = """() => {
  window.seen = {};
  window.shown = 0;
  const after = (run) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = run;
    port2.postMessage(0);
  });
  new MutationObserver((records) => {
    const found = [];
    for (const { target, addedNodes, type } of records) {
      for (const node of type === "characterData" ? [target] : addedNodes) {
        const text = (node.textContent ?? "").slice(-800);
        if (!window.shown && text.includes("Done.")) window.shown = -1;
        found.push(...[...text.matchAll(/@(\\d{6,})/g)].map((match) => match[1]));
      }
    }
    if (window.shown < 0) after(() => { if (window.shown < 0) window.shown = performance.now(); });
    const fresh = found.filter((stamp) => !(stamp in window.seen));
    for (const stamp of fresh) window.seen[stamp] = 0;
    if (fresh.length) after(() => {
      for (const stamp of fresh) window.seen[stamp] ||= performance.now();
    });
  }).observe(document, { subtree: true, childList: true, characterData: true });
}"""

# Milliseconds of each task that keeps the page from answering, and between frames.
_NOTE_TASKS = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.tasks.push(duration);
}).observe({ type: "longtask", buffered: true });"""
_NOTE_FRAMES = """() => {
  window.frames_ms = [];
  let last = performance.now();
  const note = (now) => {
    window.frames_ms.push(now - last);
    last = now;
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}"""

# A page that shows a text letter by letter has shown parts of stamps too.
_WHOLE = """Object.entries(window.seen).filter(([stamp, at], _, all) =>
  at && stamp.length === Math.max(...all.map(([other]) => other.length)))"""


@dataclass(frozen=True)
class Load:
    """Of a session's page, with nothing cached. Units: bytes on the wire, milliseconds."""

    size: int
    scripts: int
    requests: int
    shown_ms: float
    typed_ms: float


@dataclass(frozen=True)
class Paint:
    """From a chunk's leaving the model to the frame that shows it. Units: milliseconds."""

    p50_ms: float
    p95_ms: float


@dataclass(frozen=True)
class Long:
    """The page of a long history. Units: milliseconds, elements of the document."""

    shown_ms: float
    nodes: float
    task_ms: float
    frame_p95_ms: float
    read_nodes: float


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium. Raises: Unavailable."""
    path = shutil.which("chromium")
    if path is None:
        raise Unavailable("chromium is not installed")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def person(browser: Browser, server: Server) -> AsyncIterator[tuple[BrowserContext, str]]:
    """Somebody with an empty cache. Returns: also where the pages of sessions are."""
    context = await browser.new_context(viewport=_SIZE)  # type: ignore[arg-type]
    try:
        if server.sign_in is None:
            folder = base64.urlsafe_b64encode(server.address.directory.encode()).decode()
            yield context, f"{server.address.url}/{folder.rstrip('=')}/session/"
            return
        page = await context.new_page()
        await page.goto(f"{server.address.url}/login")
        await page.fill("[name=login]", server.sign_in.email)
        await page.fill("[name=password]", server.sign_in.password)
        await page.press("[name=password]", "Enter")
        await page.wait_for_url(re.compile("/t/"))
        where = re.sub(r"(/t/[^/]+/).*", r"\1s/", page.url)
        await page.close()
        # What the sign-in has loaded would be in the cache.
        state = await context.storage_state()
    finally:
        await context.close()
    fresh = await browser.new_context(viewport=_SIZE, storage_state=state)  # type: ignore[arg-type]
    try:
        yield fresh, where
    finally:
        await fresh.close()


async def measure_load(browser: Browser, api: Api, server: Server, *, loads: int) -> Load:
    """A session of some turns: medians, first keys on a processor that is slowed down."""
    session = await api.create_session()
    for _ in range(TURNS):
        await api.prompt(session, "BENCH text")
    found: list[tuple[int, int, int, float]] = []
    typed: list[float] = []
    for _ in range(loads):
        async with person(browser, server) as (context, where):
            found.append(await _first_load(await context.new_page(), where + session))
        async with person(browser, server) as (context, where):
            typed.append(await _first_key(await context.new_page(), where + session))
    size, scripts, requests, shown = (median(values) for values in zip(*found, strict=True))
    return Load(int(size), int(scripts), int(requests), shown, median(typed))


async def _first_load(page: Page, url: str) -> tuple[int, int, int, float]:
    kinds: dict[str, str] = {}
    sizes: dict[str, int] = {}
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Network.enable")
    cdp.on("Network.requestWillBeSent", lambda e: kinds.update({e["requestId"]: e.get("type", "")}))
    cdp.on(
        "Network.loadingFinished",
        lambda e: sizes.update({e["requestId"]: int(e["encodedDataLength"])}),
    )
    await page.add_init_script(f"({_WATCH})()")
    await page.goto(url)
    shown = await _wait(page, "() => window.shown > 0 && window.shown")
    # Neither page is ever idle on the network: its stream stays open.
    await page.wait_for_timeout(2_000)
    scripts = sum(size for key, size in sizes.items() if kinds.get(key) == "Script")
    return sum(sizes.values()), scripts, len(sizes), shown


async def _first_key(page: Page, url: str) -> float:
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    await page.goto(url, wait_until="commit")
    field = page.locator(_FIELD).first
    typed = """(one) => (one.value ?? one.textContent).includes("x") && performance.now()"""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            # A key that comes before the page listens is lost, as a person's would be.
            await field.press("x", timeout=1_000)
            if at := await field.evaluate(typed, timeout=1_000):
                return float(at)
        except Error:
            continue
    raise RuntimeError("the page took no key")


async def measure_paint(browser: Browser, api: Api, server: Server, *, sockets: int) -> Paint:
    """One page shows a session that streams 20 chunks per second; so many clients follow it."""
    session = await api.create_session()
    async with AsyncExitStack() as stack:
        context, where = await stack.enter_async_context(person(browser, server))
        page = await context.new_page()
        await page.add_init_script(f"({_WATCH})()")
        await page.goto(where + session)
        await page.locator(_FIELD).first.wait_for()
        if server.is_ours:
            http = await stack.enter_async_context(signed_in(server))
            await page.locator("#live[data-state=live]").wait_for()
        for _ in range(sockets - 1):
            await stack.enter_async_context(
                watching(http, server.address.url, session) if server.is_ours else following(api)
            )
        await api.prompt_async(session, f"BENCH stream {CHUNKS} {GAP_MS}")
        await _wait(page, f"() => {_WHOLE}.length >= {CHUNKS}")
        seen: dict[str, float] = dict(await page.evaluate(_WHOLE))
        origin: float = await page.evaluate("performance.timeOrigin")
    # The stamps are of the system's monotonic clock.
    offset_ns = time.time_ns() - time.monotonic_ns()
    lags = [origin + shown - (int(sent) + offset_ns) / 1e6 for sent, shown in seen.items()]
    return Paint(median(lags), percentile(lags, 0.95))


async def measure_long(browser: Browser, server: Server, session: str, *, newest: str) -> Long:
    """The load of a session whose last answer contains `newest`, and reading it backwards.

    `read_nodes`: the elements after `WHEELS` turns of the wheel.
    """
    async with person(browser, server) as (context, where):
        page = await context.new_page()
        await page.add_init_script(_NOTE_TASKS)
        await page.add_init_script(f"({_WATCH.replace('Done.', newest)})()")
        await page.goto(where + session)
        shown = await _wait(page, "() => window.shown > 0 && window.shown")
        await page.wait_for_timeout(2_000)
        nodes = await page.evaluate(_COUNT)
        task = await page.evaluate("Math.max(0, ...window.tasks)")
        await page.evaluate(_NOTE_FRAMES)
        await page.mouse.move(_SIZE["width"] / 2, _SIZE["height"] / 2)
        for _ in range(WHEELS):
            await page.mouse.wheel(0, -1_200)
            await page.wait_for_timeout(100)
        frames = await page.evaluate("window.frames_ms")
        read = await page.evaluate(_COUNT)
    return Long(shown, nodes, task, percentile(frames, 0.95), read)


async def _wait(page: Page, condition: str) -> float:
    # `wait_for_function` would need `eval`, which the page's policy forbids.
    async with asyncio.timeout(TIMEOUT_S):
        while not (found := await page.evaluate(condition)):
            await asyncio.sleep(0.05)
    return float(found)
