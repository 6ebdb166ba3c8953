from __future__ import annotations

from typing import Any

import pytest

from sessions.changes.failed_calls import count_failed


def call(tool: str, *, fails: bool = False, file: str = "", **metadata: Any) -> Any:
    given = {"filePath": file} if file else {}
    state = {"status": "error" if fails else "completed", "input": given, "metadata": metadata}
    return {"messageID": "m", "callID": f"{tool}-{file}", "tool": tool, "state": state}


BROKEN = call("edit", fails=True, file="src/till.py")


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        ([call("read"), BROKEN], 1),
        # To look around or to run something mends no file.
        ([BROKEN, call("read"), call("bash", exit=0)], 1),
        ([BROKEN, call("edit", file="till/till.py")], 0),
        ([BROKEN, call("apply_patch")], 0),
        ([BROKEN, call("edit", file="src/other.py")], 1),
        ([call("bash", exit=1), call("read")], 0),
        ([call("read"), call("bash", exit=1), call("webfetch", fails=True)], 2),
        ([call("invalid")], 1),
        ([call("bash", exit=143, stoppedBy="Ada")], 0),
        ([call("bash", fails=True, interrupted=True)], 0),
    ],
)
def test_a_failed_call_counts_until_a_later_one_makes_it_good(calls: list[Any], count: int) -> None:
    assert count_failed(calls) == count


def test_what_a_person_refused_has_not_failed() -> None:
    assert count_failed([BROKEN], {("m", BROKEN["callID"])}) == 0
