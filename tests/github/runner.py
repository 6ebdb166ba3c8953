"""Runs a composite action as GitHub's runner does: its steps in order, each a process of its own.

Strict where the runner is: a `run` has a shell, unknown actions and inputs of them are refused, and
what a step prints is read for workflow commands.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.github.expressions import evaluate, fill, to_text

_BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
_STATUS = re.compile(r"\b(always|success|failure|cancelled)\(\)")
_COMMAND = re.compile(r"^::([\w-]+)(?: [^:]*)?::(.*)$")
_STEP = {"id", "name", "if", "uses", "with", "run", "shell", "env", "working-directory"}
_UPLOAD = {"name", "path", "if-no-files-found", "overwrite", "retention-days"}


@dataclass
class Step:
    outputs: dict[str, str] = field(default_factory=dict)
    outcome: str = "skipped"
    said: str = ""


@dataclass
class Ran:
    """What is left of a job after the action."""

    outputs: dict[str, str]
    steps: dict[str, Step]
    artifacts: dict[str, Path]
    summary: str
    commands: list[tuple[str, str]]
    exit_code: int

    @property
    def said(self) -> str:
        return "".join(step.said for step in self.steps.values())

    def messages(self, kind: str) -> list[str]:
        return [text for name, text in self.commands if name == kind]


@dataclass
class Runner:
    """One job. `env` is that of the machine and of the step that uses the action."""

    folder: Path
    python: Path
    env: dict[str, str]
    commands: list[tuple[str, str]] = field(default_factory=list)
    artifacts: dict[str, Path] = field(default_factory=dict)

    def use(self, action: Path, inputs: Mapping[str, str], *, cwd: Path, token: str) -> Ran:
        """Run the action. Raises: AssertionError for what a runner would refuse."""
        described = yaml.safe_load((action / "action.yml").read_text())
        assert described["runs"]["using"] == "composite"
        known = described["inputs"]
        assert set(inputs) <= set(known), "an unexpected input"
        github = {"token": token, "action_path": str(action)}
        values = {
            name: inputs[name]
            if name in inputs
            else fill(str(one.get("default", "")), {"github": github}, {})
            for name, one in known.items()
        }
        self._summary = self._file("summary")
        steps: dict[str, Step] = {}
        contexts = {"inputs": values, "github": github, "steps": {}, "env": self.env}
        for number, described_step in enumerate(described["runs"]["steps"]):
            assert set(described_step) <= _STEP, described_step
            name = described_step.get("id", f"__{number}")
            steps[name] = self._step(described_step, contexts, steps, cwd)
            contexts["steps"] = {
                key: {"outputs": step.outputs, "outcome": step.outcome}
                for key, step in steps.items()
            }
        outputs = {
            name: fill(one["value"], contexts, {}) for name, one in described["outputs"].items()
        }
        failed = any(step.outcome == "failure" for step in steps.values())
        return Ran(
            outputs,
            steps,
            self.artifacts,
            self._summary.read_text(),
            self.commands,
            int(failed),
        )

    def _step(
        self, step: dict[str, Any], contexts: dict[str, Any], before: dict[str, Step], cwd: Path
    ) -> Step:
        failed = any(one.outcome == "failure" for one in before.values())
        functions = {
            "always": lambda: True,
            "success": lambda: not failed,
            "failure": lambda: failed,
            "cancelled": lambda: False,
        }
        condition = str(step.get("if", "success()"))
        condition = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", condition.strip())
        if not _STATUS.search(condition):
            condition = f"success() && ({condition})"
        if not evaluate(condition, contexts, functions):
            return Step()
        filled = {
            part: {name: fill(to_text(text), contexts, functions) for name, text in given.items()}
            for part in ("env", "with")
            if (given := step.get(part)) is not None
        }
        if "uses" in step:
            return self._action(step["uses"], filled.get("with", {}))
        assert step["shell"] == "bash", "a run of a composite action needs a shell"
        return self._run(fill(step["run"], contexts, functions), filled.get("env", {}), cwd)

    def _run(self, script: str, env: dict[str, str], cwd: Path) -> Step:
        files = {name: self._file(name) for name in ("output", "env", "path")}
        given = {f"GITHUB_{name.upper()}": str(path) for name, path in files.items()}
        given["GITHUB_STEP_SUMMARY"] = str(self._summary)
        file = self._file("script.sh")
        file.write_text(script)
        done = subprocess.run(
            [*_BASH, str(file)],
            env={**self.env, **given, **env},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=280,
        )
        self._obey(done.stdout)
        self.env |= _read_pairs(files["env"])
        outcome = "failure" if done.returncode else "success"
        return Step(_read_pairs(files["output"]), outcome, done.stdout)

    def _obey(self, said: str) -> None:
        stopped = ""
        for line in said.splitlines():
            found = _COMMAND.match(line.strip())
            if stopped:
                stopped = "" if line.strip() == f"::{stopped}::" else stopped
            elif found and found[1] == "stop-commands":
                stopped = found[2]
            elif found:
                self.commands.append((found[1], found[2]))
        assert not stopped, "commands were not resumed"

    def _action(self, uses: str, given: dict[str, str]) -> Step:
        name, _, commit = uses.partition("@")
        assert re.fullmatch("[0-9a-f]{40}", commit), uses
        if name == "actions/setup-python":
            assert set(given) <= {"python-version", "update-environment"}
            return Step({"python-path": str(self.python)}, "success")
        assert name == "actions/upload-artifact", name
        assert set(given) <= _UPLOAD
        assert given["name"]
        assert not set(given["name"]) & set('":<>|*?\r\n\\/'), "not a name of an artifact"
        kept = self.folder / "artifacts" / given["name"]
        assert given.get("overwrite") == "true" or not kept.exists(), "409: it exists already"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(given["path"], kept)
        self.artifacts[given["name"]] = kept
        return Step({"artifact-id": "1"}, "success")

    def _file(self, name: str) -> Path:
        folder = self.folder / "files"
        folder.mkdir(exist_ok=True)
        path = folder / f"{len(list(folder.iterdir()))}-{name}"
        path.touch()
        return path


def _read_pairs(path: Path) -> dict[str, str]:
    """`name=value`, or `name<<end`, the lines of the value, and `end`."""
    pairs: dict[str, str] = {}
    lines = iter(path.read_text().split("\n"))
    for line in lines:
        if not line:
            continue
        equals, arrow = line.find("="), line.find("<<")
        if arrow > 0 and (equals < 0 or arrow < equals):
            name, end = line.split("<<", 1)
            value = []
            for piece in lines:
                if piece == end:
                    break
                value.append(piece)
            else:
                raise AssertionError(f"matching delimiter not found: {end}")
            pairs[name] = "\n".join(value)
        else:
            assert equals > 0, f"invalid format: {line}"
            pairs[line[:equals]] = line[equals + 1 :]
    return pairs
