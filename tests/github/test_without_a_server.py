from __future__ import annotations

import json

import pytest

from tests.e2e.rest import script
from tests.github.conftest import Job
from tests.sessions.git_server import run_git

pytestmark = [pytest.mark.e2e, pytest.mark.any_database, pytest.mark.timeout(300)]
WRITE = {"tool": "write", "input": {"filePath": "made.txt", "content": "by hand\n"}}
SHOW = {"tool": "bash", "input": {"command": "env; cat .git/config", "description": "Look"}}
RULES = json.dumps({"edit": "allow", "bash": "allow"})


# Begins with an empty database and the commands of a release: half a minute.
@pytest.mark.deep
def test_feat13_fr_01_one_step_starts_a_server_and_works_in_the_checkout(job: Job) -> None:
    secrets = {"OTHER_SECRET": "s3cret-of-the-job", "ACTIONS_RUNTIME_TOKEN": "s3cret-of-actions"}
    prompt = f"Mend it. {script([WRITE], [SHOW], [{'text': 'Mended.'}])}"
    ran = job.use(env=secrets, prompt=prompt, model="demo/inline", permission=RULES)
    assert (ran.exit_code, ran.outputs["result"]) == (0, "done"), ran.said
    assert ran.outputs["answer"] == "Mended."
    assert (job.repository.folder / "made.txt").read_text() == "by hand\n"
    assert run_git("status", "--porcelain", cwd=job.repository.folder) == "?? made.txt"
    kept = ran.artifacts["opencode-web"]
    document = (kept / "session.json").read_text()
    assert "s3cret" not in document
    assert "+by hand" in (kept / "changes.patch").read_text()
    assert job.github.checks[0]["conclusion"] == "success"
    assert "Mended." in job.github.comments[0]["body"]


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({}, "--embedded needs the model"),
        ({"model": "anthropic/claude"}, "set ANTHROPIC_API_KEY"),
        ({"model": "demo/inline", "directory": "/"}, "in no Git repository"),
        ({"model": "demo/inline", "max-cost": "-1"}, "An input of the action is wrong"),
        ({"model": "demo/inline", "sandbox": "maybe"}, "`on` or `off`"),
    ],
)
@pytest.mark.deep
def test_wrong_inputs_are_told(job: Job, inputs: dict[str, str], told: str) -> None:
    ran = job.use(prompt="hi", **inputs)
    assert ran.exit_code == 1
    assert told in " ".join(ran.messages("error")), ran.said


def test_a_token_that_the_checkout_has_left_is_refused(job: Job) -> None:
    folder = job.repository.folder
    name = "http.https://github.com/.extraheader"
    run_git("config", "--local", name, "AUTHORIZATION: basic eA==", cwd=folder)
    ran = job.use(prompt="hi", model="demo/inline")
    run_git("config", "--local", "--unset", name, cwd=folder)
    assert (ran.exit_code, ran.outputs["result"]) == (1, "invalid")
    assert "persist-credentials" in ran.messages("error")[0]
