"""Going from page to page in Chromium, and what a streaming answer leaves of the main thread."""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Browser, BrowserContext, CDPSession, Page

from bench.api import Api
from bench.browser import person
from bench.server import Server
from bench.stats import median

SESSIONS, ROUNDS = 8, 10
STREAMS, CHUNKS, GAP_MS, KEYS = 3, 200, 50, 20
# People rest on a link for some tenths of a second before they press.
REST_MS = 300
# When a page was left and when the next one was painted, by the clock that both have.
_WATCH = """
const now = () => performance.timeOrigin + performance.now();
const leave = () => (sessionStorage.left = now());
addEventListener("click", leave, true);
addEventListener("keydown", leave, true);
const painted = (run) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = run;
  port2.postMessage(0);
});
let heading = null;
const look = () => {
  const found = document.querySelector("main :is(h1, #latest)");
  if (!found || found === heading) return;
  heading = found;
  const { left } = sessionStorage;
  if (left) painted(() => window.arrive(now() - left));
  sessionStorage.removeItem("left");
};
new MutationObserver(look).observe(document, { subtree: true, childList: true });
"""
_NOTE_KEYS = """() => {
  window.keys_ms = [];
  window.tasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.tasks.push(duration);
  }).observe({ type: "longtask" });
  addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.keys_ms.push(performance.now() - timeStamp);
    port2.postMessage(0);
  }), true);
}"""


async def measure_navigation(browser: Browser, api: Api, server: Server) -> dict[str, float]:
    """Medians in ms from a click, or the key of the next session, to the painted page."""
    sessions = [await api.create_session() for _ in range(SESSIONS)]
    for session in sessions:
        await api.prompt(session, "BENCH text")
    rest = sessions[1:]
    async with person(browser, server) as (context, where):
        page = await context.new_page()
        arrivals = _Arrivals(page)
        await arrivals.begin()
        team = where.removesuffix("s/")
        start = where + sessions[0]
        await page.goto(start)
        project = await page.locator(".crumbs a").first.get_attribute("href")
        ways = {
            "session": [(start, f".app-rail [data-session-row][href$='{one}']") for one in rest],
            "home": [(start, ".topbar-home")],
            "project": [(team, f"a[href='{project}']")],
            "settings": [(f"{team}settings/general", ".settings-rail a[href$='/members']")],
        }
        found = {name: await arrivals.after_click(steps) for name, steps in ways.items()}
        # The newest is the first of the list.
        await page.goto(where + rest[-1])
        found["key"] = await arrivals.after_key()
    return found


class _Arrivals:
    """Milliseconds that the pages of one tab took to come."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._came: asyncio.Queue[float] = asyncio.Queue()

    async def begin(self) -> None:
        await self._page.expose_function("arrive", self._came.put_nowait)
        await self._page.add_init_script(_WATCH)

    async def after_click(self, steps: list[tuple[str, str]]) -> float:
        """`steps`: where from, and by which link."""
        times = []
        for turn in range(ROUNDS + 2):
            start, selector = steps[turn % len(steps)]
            await self._page.goto(start)
            await self._page.wait_for_timeout(300)
            await self._page.locator(selector).first.hover()
            await self._page.wait_for_timeout(REST_MS)
            await self._page.mouse.down()
            await self._page.mouse.up()
            times.append(await self._next())
        return median(times[2:])

    async def after_key(self) -> float:
        times = []
        for turn in range(ROUNDS):
            await self._page.wait_for_timeout(400)
            await self._page.keyboard.press("j" if turn % 4 < 2 else "k")
            times.append(await self._next())
        return median(times)

    async def _next(self) -> float:
        return await asyncio.wait_for(self._came.get(), 10)


async def measure_busy(
    browser: Browser, api: Api, server: Server, session: str
) -> dict[str, float]:
    """A session of some history streams 20 chunks per second, and somebody writes meanwhile.

    Returns: medians of the main thread's time for all and for styles in percent, layouts per
    second, the longest task and key to paint in milliseconds.
    """
    async with person(browser, server) as (context, where):
        found = [await _stream(context, api, where, session) for _ in range(STREAMS)]
    return {name: median([one[name] for one in found]) for name in found[0]}


async def _stream(context: BrowserContext, api: Api, where: str, session: str) -> dict[str, float]:
    page = await context.new_page()
    await page.goto(where + session)
    await page.locator("#live[data-state=live]").wait_for()
    cdp = await context.new_cdp_session(page)
    # Time of the processor: another program's is not counted.
    await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
    await api.prompt_async(session, f"BENCH prose {CHUNKS} {GAP_MS}")
    await page.wait_for_timeout(1_500)
    await page.evaluate(_NOTE_KEYS)
    before, began = await _metrics(cdp), time.monotonic()
    await page.wait_for_timeout(CHUNKS * GAP_MS / 2)
    after, took = await _metrics(cdp), time.monotonic() - began
    await page.locator("#prompt").focus()
    for _ in range(KEYS):
        await page.keyboard.press("x")
        await page.wait_for_timeout(50)
    found: dict[str, float] = {
        "share": 100 * (after["TaskDuration"] - before["TaskDuration"]) / took,
        "styles": 100 * (after["RecalcStyleDuration"] - before["RecalcStyleDuration"]) / took,
        "layouts": (after["LayoutCount"] - before["LayoutCount"]) / took,
        "task": await page.evaluate("Math.max(0, ...window.tasks)"),
        "key": median(await page.evaluate("window.keys_ms")),
    }
    await page.locator(".text-streaming").wait_for(state="detached")
    await page.close()
    return found


async def _metrics(cdp: CDPSession) -> dict[str, float]:
    found = await cdp.send("Performance.getMetrics")
    return {one["name"]: one["value"] for one in found["metrics"]}
