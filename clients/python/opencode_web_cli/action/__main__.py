from __future__ import annotations

import sys

from opencode_web_cli.action.prepare import prepare
from opencode_web_cli.action.report import report
from opencode_web_cli.action.run import finish, run
from opencode_web_cli.action.workflow import Workflow, escape_command
from opencode_web_cli.failures import Failure

_STEPS = {"prepare": prepare, "run": run, "report": report, "finish": finish}


def main() -> int:
    """Returns: the exit code of the step that the only argument names."""
    try:
        return _STEPS[sys.argv[1]](Workflow.of_environment())
    except Failure as exc:
        print(f"::error::{escape_command(str(exc))}")
        return exc.code


sys.exit(main())
