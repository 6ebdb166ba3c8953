from __future__ import annotations

import gc
import os
import re
import shutil
import signal
from collections import Counter
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings

from opencode_web.lib.signals import keep_ignored_signals
from tests.migrated import drop_template

# A machine with much else to do is no reason to fail.
hypothesis.settings.register_profile(
    "patient",
    hypothesis.settings.default,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
# Shrinking takes minutes where turns run: the timeout ends it, and nobody learns what failed.
hypothesis.settings.register_profile(
    "ci",
    hypothesis.settings.get_profile("patient"),
    phases=[phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.shrink],
)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "patient")

_ALL_DEEP = re.compile(r"^pytestmark = .*\bpytest\.mark\.deep\b", re.M)
# The names of tests, without their cases.
_COLLECTED: set[str] = set()
_DATABASE = frozenset({"db", "transactional_db", "django_db_setup"})
# About pages, wires, vendors and files. What they ask the database is asked by the actions and the
# API, too, whose tests are played on each, and `test_every_page` opens every page on each.
_SAME_ANYWHERE = re.compile(
    r"tests/(providers/|(\w+/)*(agents|browse|checkouts|commands|docs|forges|mcp_server|ops|present"
    r"|previews|repository|stream|views)/)"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", action="store_true", help="keep one of each page, for people")


def pytest_configure() -> None:
    # As a server does: a shell has what it starts in the background ignore some.
    keep_ignored_signals()
    # Whoever runs the tests there can still stop them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What is imported and collected stays, and to look for garbage among it is a tenth of that.
    gc.set_threshold(100_000, 50, 100)


def _declared_s(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker else 0.0


def _depends_on_database(item: pytest.Item) -> bool:
    if item.get_closest_marker("any_database"):
        return False
    fixtures = getattr(item, "fixturenames", ())
    marker = item.get_closest_marker("django_db")
    commits = "transactional_db" in fixtures or (marker and marker.kwargs.get("transaction"))
    if commits or item.get_closest_marker("e2e"):
        return True
    uses_one = marker is not None or not _DATABASE.isdisjoint(fixtures)
    return uses_one and not _SAME_ANYWHERE.match(item.nodeid)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # To import what would be left out takes each process seconds.
    if config.getoption("markexpr") != "not deep" or collection_path.suffix != ".py":
        return None
    return True if _ALL_DEEP.search(collection_path.read_text()) else None


def _is_repeated(item: pytest.Item) -> bool:
    """Whether another case of the same test was collected before."""
    name = item.nodeid.partition("[")[0]
    repeated = name in _COLLECTED
    _COLLECTED.add(name)
    return repeated


def pytest_itemcollected(item: pytest.Item) -> None:
    if not _depends_on_database(item):
        return
    # The cases of a test send the database the same statements; those of long tests rarely do.
    all_cases = item.get_closest_marker("deep") or item.get_closest_marker("each_database")
    if not _is_repeated(item) or all_cases:
        item.add_marker("database")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Each worker begins with its part of this order, and one that is done takes over from the end
    # of another's: nobody waits for a story that began last, and few workers start a server.
    items.sort(key=lambda item: (-_declared_s(item), item.get_closest_marker("e2e") is None))


def pytest_collection_finish() -> None:
    # All that is there by now stays to the end. To look for garbage among it again and again is a
    # sixth of the processor's time of the tests that have no browser.
    gc.freeze()


def _skipped_groups(config: pytest.Config) -> Counter[tuple[str, str]]:
    """How many tests of each file were skipped for each reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    groups: Counter[tuple[str, str]] = Counter()
    for report in reporter.stats.get("skipped", []) if reporter else []:
        where, _, reason = report.longrepr
        file = os.path.relpath(str(where), config.rootpath)
        groups[file, str(reason).removeprefix("Skipped: ")] += 1
    return groups


def pytest_sessionfinish(session: pytest.Session) -> None:
    # On a machine that was set up for the tests nothing may be missing.
    ok = session.exitstatus == pytest.ExitCode.OK
    if ok and os.environ.get("CI") and _skipped_groups(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    groups = _skipped_groups(terminalreporter.config)
    if not groups:
        return
    verdict = "failures, because CI is set" if os.environ.get("CI") else "left out"
    terminalreporter.section(f"skipped tests: {verdict}", red=bool(os.environ.get("CI")))
    for (file, reason), count in sorted(groups.items()):
        terminalreporter.line(f"{count:4} {file}: {reason}")


def pytest_unconfigure(config: pytest.Config) -> None:
    # The workers end before the controller, so it is the last one to need the folder.
    if not hasattr(config, "workerinput"):
        if "DATABASE_URL" in os.environ:
            drop_template(os.environ["DATABASE_URL"], settings.DATA_DIR.parent)
        shutil.rmtree(settings.DATA_DIR.parent, ignore_errors=True)
