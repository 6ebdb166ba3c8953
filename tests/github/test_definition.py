from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.e2e.installation import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "github" / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def test_no_expression_is_part_of_a_command(subtests: pytest.Subtests) -> None:
    steps = [*STEPS]
    for path in WORKFLOWS:
        steps += _steps_of(yaml.safe_load(path.read_text()))
    for step in [one for one in steps if "run" in one]:
        with subtests.test(run=step["run"]):
            assert "${{" not in step["run"]


def test_actions_of_others_are_pinned_to_a_commit(subtests: pytest.Subtests) -> None:
    for path in (ROOT / "github" / "action.yml", *WORKFLOWS):
        for line in path.read_text().splitlines():
            if "uses:" in line and "uses: ./" not in line:
                with subtests.test(line=line.strip()):
                    assert re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)


def test_every_input_is_used_and_every_one_that_is_used_is_declared() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", str(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


def test_the_component_of_gitlab_uses_its_inputs_and_demands_what_a_run_needs() -> None:
    spec, jobs = yaml.safe_load_all((ROOT / "github" / "gitlab-component.yml").read_text())
    inputs = spec["spec"]["inputs"]
    assert set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", str(jobs))) == set(inputs)
    assert "$[[" not in str(jobs["opencode-web"]["script"])
    needed = [name for name, one in inputs.items() if "default" not in one]
    assert needed == ["prompt", "model", "wheel"]


def test_feat13_fr_02_the_inputs_of_the_specification_have_their_defaults() -> None:
    inputs = ACTION["inputs"]
    assert inputs["prompt"] == {"description": "What the agent is to do", "required": True}
    defaults = {name: inputs[name]["default"] for name in ("directory", "agent", "model")}
    assert defaults == {"directory": ".", "agent": "build", "model": ""}
    assert inputs["github-token"]["default"] == "${{ github.token }}"


def test_the_token_of_github_and_the_keys_are_never_in_one_step() -> None:
    secrets = {step["id"]: set(step.get("env", {})) for step in STEPS}
    assert [name for name, env in secrets.items() if "OCW_GITHUB_TOKEN" in env] == [
        "prepare",
        "report",
    ]
    assert [name for name, env in secrets.items() if "OCW_TOKEN" in env] == ["install", "run"]
