"""A command line as a card shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.present.conversation.asks import one_a_line
from tools.shell.parse import parse_shell


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("git push && git tag v1 ; ls | wc -l", "git push &&\ngit tag v1 ;\nls |\nwc -l"),
        ("make &&\n\nmake install", "make &&\nmake install"),
        # Nothing is taken apart that is not a row of commands from end to end.
        ('echo "a && git push"', 'echo "a && git push"'),
        ("git push && # later\nls", "git push && # later\nls"),
        ("cat <<E && ls\na && b\nE", "cat <<E && ls\na && b\nE"),
        ("(make && make install)", "(make && make install)"),
        ("cd src && make", "cd src && make"),
        ("make && make", "make && make"),
    ],
)
def test_each_command_of_a_line_has_one_of_its_own(line: str, shown: str) -> None:
    commands = parse_shell(line, directory=Path("/srv/shop"), worktree=Path("/srv/shop")).patterns
    assert one_a_line(line, commands) == shown
    assert one_a_line(line, []) == line
