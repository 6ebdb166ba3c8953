from __future__ import annotations

import time
from pathlib import Path

import pytest

from tools.permissions.config import parse_ruleset
from tools.permissions.rules import Action, judge
from tools.shell.parse import ShellAsk, parse_shell

ROOT = Path("/srv/project")
RULES = parse_ruleset({"bash": {"*": "ask", "ls *": "allow", "rm *": "deny"}})


def parse(command: str, *, directory: Path = ROOT) -> ShellAsk:
    return parse_shell(command, directory=directory, worktree=ROOT)


def test_commands_and_what_always_remembers(subtests: pytest.Subtests) -> None:
    cases = [
        ("ls -la", ["ls -la"], ["ls *"]),
        ("git status", ["git status"], ["git status *"]),
        ("git config user.name x", ["git config user.name x"], ["git config user.name *"]),
        ("npm run build -- --watch", ["npm run build -- --watch"], ["npm run build *"]),
        ("npm install x", ["npm install x"], ["npm install *"]),
        ("docker compose up -d", ["docker compose up -d"], ["docker compose up *"]),
        ("aws s3 ls", ["aws s3 ls"], ["aws s3 ls *"]),
        ("python3 -m pytest", ["python3 -m pytest"], ["python3 *"]),
        ("unknown-tool a b", ["unknown-tool a b"], ["unknown-tool *"]),
        ("a && b || c; d | e", ["a", "b", "c", "d", "e"], ["a *", "b *", "c *", "d *", "e *"]),
        ("ls; ls -a", ["ls", "ls -a"], ["ls *"]),
        ("echo hi > out.txt", ["echo hi > out.txt"], ["echo *"]),
        ("a && b > f", ["a", "b"], ["a *", "b *"]),
        ("FOO=1 echo hi", ["FOO=1 echo hi"], ["echo *"]),
        ("echo $(rm x)", ["echo $(rm x)", "rm x"], ["echo *", "rm *"]),
        ("echo `rm x`", ["echo `rm x`", "rm x"], ["echo *", "rm *"]),
        ('echo "a $(rm x)"', ['echo "a $(rm x)"', "rm x"], ["echo *", "rm *"]),
        ("for i in a b; do rm $i; done", ["rm $i"], ["rm *"]),
        ("if true; then ls; fi", ["true", "ls"], ["true *", "ls *"]),
        ("f() { rm -rf x; }; f", ["rm -rf x", "f"], ["rm *", "f *"]),
        ("(cd a && make)", ["make"], ["make *"]),
        ("diff <(sort a) b", ["diff <(sort a) b", "sort a"], ["diff *", "sort *"]),
        ("cat <<EOF\n$(rm x)\nEOF", ["cat <<EOF\n$(rm x)\nEOF", "rm x"], ["cat *", "rm *"]),
        ("export A=$(rm x)", ["export A=$(rm x)", "rm x"], ["export *", "rm *"]),
        ("A=$(rm x)", ["rm x"], ["rm *"]),
        ("[[ -f x ]] && ls", ["ls"], ["ls *"]),
        ("test", ["test"], ["test *"]),
        ("ls # rm x", ["ls"], ["ls *"]),
    ]
    for command, patterns, always in cases:
        with subtests.test(command=command):
            asked = parse(command)
            assert list(asked.patterns) == patterns
            assert list(asked.always) == always


@pytest.mark.parametrize("command", ["cd src", "cd src && cd ..", "pushd a; popd"])
def test_changing_the_folder_asks_nothing(command: str) -> None:
    assert parse(command).patterns == ()


def test_a_line_without_a_plain_command_is_asked_for(subtests: pytest.Subtests) -> None:
    for command in [
        "> .git/config",
        "[[ x ]] > file",
        "A=1",
        "A=1; B=2",
        "{ A=1; } > f",
        "cd . > file",
    ]:
        with subtests.test(command=command):
            assert parse(command).patterns != ()


def test_always_never_remembers_what_would_match_other_commands(subtests: pytest.Subtests) -> None:
    for command in ["$X a", "* a", "'*' a", "rm? a", "`x` a", "git 's*' b"]:
        with subtests.test(command=command):
            prefixes = [pattern.removesuffix(" *") for pattern in parse(command).always]
            assert not any(set(prefix) & set("*?$`\\\n") for prefix in prefixes)
            assert parse(command).patterns


def test_what_cannot_be_parsed_is_asked_for_as_a_whole_and_never_always(
    subtests: pytest.Subtests,
) -> None:
    for command in ["echo 'open", "ls )", "if then", "echo $(", "a && && b"]:
        with subtests.test(command=command):
            asked = parse(command)
            assert asked.patterns[0] == command
            assert asked.always == ()


def test_paths_that_point_outside(subtests: pytest.Subtests) -> None:
    cases = [
        ("cat /etc/passwd", ["/etc/passwd"]),
        ("cat '/etc/passwd'", ["/etc/passwd"]),
        ("rm -rf ../other", ["/srv/other"]),
        ("cp a /tmp/*.txt", ["/tmp/"]),
        ("cat ~/key", ["/agent/key"]),
        ("cd / && ls", ["/"]),
        ("cat a b/c ./d", []),
        (f"cat {ROOT}/a", []),
        ("cat $HOME/x", []),
        ("grep x /etc/passwd", []),
        ("chmod +x /srv/project/a", []),
        ("flock -w 1 l cat /etc/passwd", ["/etc/passwd"]),
        ("watch 'cat /etc/passwd'", ["/etc/passwd"]),
    ]
    for command, outside in cases:
        with subtests.test(command=command):
            assert list(parse(command).outside) == outside


def test_relative_paths_start_at_the_working_folder() -> None:
    assert parse("cat ../x", directory=ROOT / "sub").outside == ()
    assert parse("cat ../../x", directory=ROOT / "sub").outside == ("/srv/x",)


def test_deep_nesting_is_read_without_recursion() -> None:
    started = time.monotonic()
    asked = parse("(" * 700 + "rm x" + ")" * 700)
    assert asked.patterns
    assert time.monotonic() - started < 10


def test_no_line_keeps_the_reader_busy(subtests: pytest.Subtests) -> None:
    cases = [
        "a && " * 20_000,
        "(" * 2_500 + "a" + " >x)" * 2_500,
        "(" * 370 + "a" + " >x)" * 370,
        "a|" * 30_000,
        "a=(" * 10_000,
        ("x" * 60 + "=(") * 740,
        "$[a+" * 740,
        "f()" * 740,
        "echo $(" * 490 + ")" * 490,
        "ls\n" * 20_000,
        "rm " + "/etc/passwd " * 5_000,
        "[[ a" * 740,
        "<<A\n" * 740,
    ]
    for command in cases:
        with subtests.test(command=command):
            started = time.process_time()
            parse(command)
            assert time.process_time() - started < 10


HOSTILE = [
    "x" * 131_000,
    "a && " * 1_000 + "a",
    "rm x; " * 10_000,
    "\n".join(f"make {number}" for number in range(300)),
    "".join(f"c{number};" for number in range(18_000)),
    "echo $(" * 300 + "x" * 60_000 + ")" * 300,
    "a " * 30_000,
    "'" * 60_000,
    "\\" * 60_000,
    "${" * 30_000,
    "{a," * 30_000,
    "bash -c '" * 5_000,
    "eval " * 20_000 + "rm x",
    "sudo " * 20_000 + "rm x",
    "find . -exec " * 5_000,
    "<<A " * 20_000,
    "a=" * 30_000,
    "-" * 60_000,
]


@pytest.mark.deep
def test_a_line_that_nobody_could_read_is_one_whole_in_bounded_time(
    subtests: pytest.Subtests,
) -> None:
    for command in HOSTILE:
        with subtests.test(command=command):
            started = time.process_time()
            asked = parse(command)
            verdict = judge("bash", asked.subjects, RULES, opaque=asked.opaque)
            assert time.process_time() - started < 20
            assert len(asked.patterns) <= 201
            assert verdict.action is (Action.DENY if "rm x" in command else Action.ASK)


def test_a_long_script_in_a_heredoc_is_read() -> None:
    command = "cat > a.py <<'EOF'\n" + "print(1)\n" * 700 + "EOF"
    assert parse(command).patterns == (command,)


@pytest.mark.parametrize(
    "command",
    [
        "git config" + " - a" * 15_000,
        "make " + "=" * 131_000,
        ";".join(["git config" + " - a" * 150] * 90),
    ],
)
def test_what_a_line_may_run_is_not_many_times_the_line(command: str) -> None:
    asked = parse(command)
    assert asked.opaque
    assert sum(len(text) for one in asked.subjects for text in one.others) < 2_000_000
