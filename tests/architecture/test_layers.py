from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.architecture.sources import ROOMS, ROOT, modules, name_of, tree_of


def test_every_room_imports_only_what_is_below_it() -> None:
    # In a process of its own: the linter imports the rooms by another way than pytest does.
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


# file: why it imports inside a function.
LATE_IMPORTS = {
    "opencode_web/lib/static.py": "the package is not there on every machine",
    "opencode_web/lib/plugins/loading.py": "pluggy takes 4 ms: only a server with plugins pays",
    **dict.fromkeys(
        (f"sessions/integrations/slack/{name}.py" for name in ("api", "receive", "service")),
        "Slack's packages take 0.5 s and 25 MB: only who speaks with Slack pays",
    ),
    "tools/mcp/remote.py": "the protocol's package takes 0.7 s and 60 MB: only who asks pays",
}


def test_no_import_is_late_or_only_for_types() -> None:
    late = set()
    for path in modules(*ROOMS):
        tree = tree_of(path)
        top = {id(node) for node in tree.body}
        late |= {
            name_of(path)
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in top
        }
    assert late == set(LATE_IMPORTS)
