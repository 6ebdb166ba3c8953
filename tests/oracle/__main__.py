"""Play the recorded cases through a server of this code, and score what it sends and shows.

    python -m tests.oracle FOLDER [--providers openai,anthropic] [--only REGEX] [--show]
    python -m tests.oracle FOLDER --reduce

FOLDER holds the recordings and their player (`replay.py`). A server is started on a free port with
a database of its own; nothing leaves the machine. What differs on purpose is in differences.toml.
Ends with 1 when a provider has under 90 % of its fields, or all together under 95 %. With --reduce
nothing is played: facts of some cases become the small recording that test_recorded.py plays.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.e2e.installation import Installation, free_port
from tests.migrated import lay_out
from tests.oracle.reduce import reduce
from tests.oracle.score import LEAST, LEAST_OF_ONE, declared, undeclared


def main() -> int:
    """Returns: the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, prog="tests.oracle")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--providers", default="")
    parser.add_argument("--only", default=".")
    parser.add_argument("--show", action="store_true", help="Show what differs undeclared.")
    parser.add_argument("--reduce", action="store_true", help="Make the recording of the tests.")
    given = parser.parse_args()
    if given.reduce:
        print(reduce(given.folder))
        return 0
    with tempfile.TemporaryDirectory(prefix="oracle") as folder:
        report = Path(folder) / "report.json"
        _play(given, Path(folder), report)
        return _score(json.loads(report.read_text()), show=given.show)


def _play(given: argparse.Namespace, folder: Path, report: Path) -> None:
    env = {
        **os.environ,
        "OPENCODE_WEB_DATA": str(folder / "data"),
        "ALLOWED_PRIVATE_ADDRESSES": "127.0.0.1",
    }
    server = Installation(folder, env)
    lay_out(folder / "data")
    made = server.manage(
        *("bootstrap", "--email", "oracle@example.com", "--password", "correct-horse-battery"),
        *("--team", "Oracle", "--json"),
    )
    facts = json.loads(made.strip().splitlines()[-1])
    server.start()
    try:
        subprocess.run(
            [
                *(sys.executable, given.folder / "replay.py", "--url", server.url),
                *("--token", facts["token"], "--dir", facts["directory"], "--show", "0"),
                *("--providers", given.providers, "--only", given.only, "--report", report),
                *("--port", str(free_port()), "--jobs", "6"),
            ],
            check=True,
            cwd=folder,
        )
    finally:
        server.stop()


def _score(cases: list[dict[str, Any]], *, show: bool) -> int:
    rules = declared()
    equal: defaultdict[str, int] = defaultdict(int)
    total: defaultdict[str, int] = defaultdict(int)
    whole: defaultdict[str, int] = defaultdict(int)
    for case in cases:
        provider = case["case"].partition("/")[0]
        left = undeclared(case["case"], case["diffs"], rules)
        equal[provider] += case["equal"]
        total[provider] += case["equal"] + len(left)
        whole[provider] += not left
        for name, want, got in left if show else ():
            print(f"{case['case']}: {name}\n    want {_cut(want)}\n    got  {_cut(got)}")
    for provider in total:
        share = 100 * equal[provider] / max(total[provider], 1)
        print(f"{provider:26} {equal[provider]:6}/{total[provider]:<6} {share:5.1f} %")
    share = 100 * sum(equal.values()) / max(sum(total.values()), 1)
    print(f"all: {share:.1f} % of the fields, {sum(whole.values())} of {len(cases)} cases whole")
    worst = min(100 * equal[one] / max(total[one], 1) for one in total)
    return int(share < LEAST or worst < LEAST_OF_ONE)


def _cut(value: Any) -> str:
    return json.dumps(value)[:200]


if __name__ == "__main__":
    sys.exit(main())
