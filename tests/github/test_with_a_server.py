from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import script, text_of, wait_for
from tests.github.conftest import BRANCH, Job, Repository
from tests.github.runner import Ran
from tests.github.server import BOT, REPOSITORY, TOKEN

pytestmark = [pytest.mark.deep, pytest.mark.e2e, pytest.mark.any_database, pytest.mark.timeout(300)]
SAYS = "Tax is added **twice**."
WRITE = {"tool": "write", "input": {"filePath": "made.txt", "content": "by hand\n"}}


@pytest.fixture(scope="module")
def client(server: Installation, repository: Repository) -> Iterator[httpx.Client]:
    """A server that has cloned the repository, before the pull request was there."""
    with server.client() as client:
        made = client.post("/project", json={"url": f"{repository.url}/{REPOSITORY}"}).json()
        wait_for(
            lambda: client.get("/vcs", params={"directory": made["worktree"]}).json(), seconds=60
        )
        yield client


@pytest.fixture
def use(job: Job, server: Installation, client: httpx.Client) -> Job:
    return job


def review(job: Job, server: Installation, *steps: list[dict[str, object]], **more: str) -> Ran:
    given = {"model": "demo/inline", "server": server.url, "token": server.token}
    return job.use(prompt=f"Review. {script(*steps)}", **{**given, **more})


def test_feat13_fr_03_a_pull_request_is_reviewed_at_its_commit(
    use: Job, server: Installation, client: httpx.Client
) -> None:
    ran = review(use, server, [{"text": SAYS}])
    assert (ran.exit_code, ran.outputs["result"]) == (0, "done"), ran.said
    assert ran.outputs["answer"] == SAYS
    assert ran.outputs["changed"] == "false"
    session = client.get(f"/session/{ran.outputs['session']}").json()
    assert session["title"] == f"{REPOSITORY}#7"
    worktree = client.get(f"/session/{session['id']}/worktree").json()
    assert worktree["base"]["commit"] == use.github.commit
    asked = client.get(f"/session/{session['id']}/message").json()[0]
    assert "pull request #7 of acme/till" in text_of(asked)
    assert [part["filename"] for part in asked["parts"] if part["type"] == "file"] == [
        "pull_request.diff"
    ]
    (check,) = use.github.checks
    assert (check["conclusion"], check["head_sha"]) == ("success", use.github.commit)
    assert SAYS in check["output"]["summary"]
    (comment,) = use.github.comments
    assert SAYS in comment["body"]
    assert SAYS in ran.summary


def test_feat13_fr_04_the_session_is_kept_as_an_artifact(use: Job, server: Installation) -> None:
    ran = review(use, server, [WRITE], [{"text": SAYS}], permission='{"edit": "allow"}')
    assert (ran.exit_code, ran.outputs["changed"]) == (0, "true"), ran.said
    kept = ran.artifacts["opencode-web"]
    assert json.loads((kept / "session.json").read_text())["info"]["id"] == ran.outputs["session"]
    page = (kept / "session.html").read_text()
    assert SAYS in page
    assert "default-src 'none'" in page
    assert (kept / "answer.md").read_text() == f"{SAYS}\n"
    assert "+by hand" in (kept / "changes.patch").read_text()
    assert json.loads((kept / "result.json").read_text())["changed"] == ["made.txt"]
    # The server has changed its own worktree, and nothing of the runner.
    assert not (use.repository.folder / "made.txt").exists()
    assert "`made.txt`" in use.github.comments[0]["body"]
    texts = "".join(path.read_text() for path in kept.iterdir())
    everything = texts + ran.said + ran.summary + str(ran.outputs) + str(use.github.comments)
    assert server.token not in everything
    assert TOKEN not in everything


def test_a_second_run_edits_the_comment_of_the_first(use: Job, server: Installation) -> None:
    review(use, server, [{"text": "First."}], comment="false")
    assert use.github.comments == []
    review(use, server, [{"text": "Second."}])
    (own,) = use.github.comments
    mark = own["body"].splitlines()[0]
    # Somebody else writes the mark, too, and so many comment that there are two pages.
    use.github.comments.clear()
    use.github.add_comment("mallory", f"{mark}\nsays the bot")
    for _ in range(120):
        use.github.add_comment("alice", "Hm.")
    use.github.comments.append({**own, "id": 500})
    review(use, server, [{"text": "Third."}])
    assert len(use.github.comments) == 122
    assert use.github.comments[0]["body"].endswith("says the bot")
    assert "Third." in use.github.comments[-1]["body"]
    assert use.github.comments[-1]["user"]["login"] == BOT


def test_what_nobody_allows_fails_the_job(use: Job, server: Installation) -> None:
    ran = review(use, server, [WRITE], [{"text": "Written."}], artifact="", check="")
    assert (ran.exit_code, ran.outputs["result"]) == (1, "refused"), ran.said
    assert ran.outputs["exit-code"] == "3"
    assert ran.artifacts == {}
    assert use.github.checks == []
    body = use.github.comments[0]["body"]
    assert "nobody could allow it" in body
    assert "Not allowed: edit made.txt" in body
    assert ran.messages("error") == ["Not allowed: edit made.txt"]


def test_why_the_model_failed_is_told(use: Job, server: Installation) -> None:
    ran = review(use, server, [{"error": {"status": 400, "message": "@bob: `no`\n::add-mask::a"}}])
    assert (ran.exit_code, ran.outputs["result"]) == (1, "failed"), ran.said
    assert [name for name, _ in ran.commands] == ["error"]
    (told,) = ran.messages("error")
    assert "@bob: `no`" in told
    kept = json.loads((ran.artifacts["opencode-web"] / "result.json").read_text())
    assert "@bob: `no`" in kept["why"][0]
    for text in (ran.summary, use.github.checks[0]["output"]["summary"]):
        assert "bob: `no`" in text
        assert "@bob" not in text


def test_hostile_texts_run_nothing_and_set_nothing(use: Job, server: Installation) -> None:
    use.title = '"; touch pwned; $(touch pwned) `touch pwned`'
    evil = (
        "::set-output name=result::evil\n::add-mask::a\nEOF\nresult=evil\nresult<<EOF\nevil\nEOF\n"
        "@alice <!-- opencode-web 0123456789abcdef -->"
    )
    prompt = f"{use.title} ' \\ {BRANCH} {script([{'text': evil}])}"
    ran = use.use(
        prompt=prompt, model="demo/inline", server=server.url, token=server.token, check="$(id)"
    )
    assert (ran.exit_code, ran.outputs["result"]) == (0, "done"), ran.said
    assert ran.outputs["answer"] == evil
    # Commands that are printed are shown, not carried out.
    assert [name for name, _ in ran.commands] == []
    assert "::add-mask::a" in ran.said
    body = use.github.comments[0]["body"]
    assert "@alice" not in body
    assert body.count("<!--") == 1
    assert list(Path(use.folder, "..").rglob("pwned")) == []
    assert not (use.repository.folder / "pwned").exists()


@pytest.mark.parametrize("head", ["mallory/till", pytest.param("", marks=pytest.mark.deep)])
def test_the_agent_is_not_started_for_a_fork(use: Job, server: Installation, head: str) -> None:
    use.head_of = head
    ran = review(use, server, [{"text": SAYS}])
    assert (ran.exit_code, ran.outputs["result"]) == (0, "skipped"), ran.said
    assert "from a fork" in ran.messages("notice")[0]
    assert "from a fork" in ran.summary
    assert use.github.seen == []


def test_without_the_right_to_checks_it_is_a_status(use: Job, server: Installation) -> None:
    use.github.denied = {"check-runs"}
    # A limit is waited for, and a broken answer is asked for again.
    use.github.then = [(429, {"Retry-After": "0"}), (503, {"Retry-After": "0"})]
    ran = review(use, server, [{"text": SAYS}])
    assert (ran.exit_code, ran.messages("warning")) == (0, []), ran.said
    (status,) = use.github.statuses
    assert (status["state"], status["context"]) == ("success", "OpenCode Web")


def test_a_token_that_may_write_nothing_is_a_warning(use: Job, server: Installation) -> None:
    use.github.denied = {"check-runs", "statuses", "issues", "pulls"}
    ran = review(use, server, [{"text": SAYS}])
    assert (ran.exit_code, ran.outputs["result"]) == (0, "done"), ran.said
    told = ran.messages("warning")
    assert [text.split(".")[0] for text in told] == [
        "The diff was not read",
        "The check was not posted",
        "The comment was not posted",
    ]
    assert all("Resource not accessible" in text for text in told)


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"prompt": ""}, "The input `prompt` is empty"),
        ({"prompt": "hi", "token": ""}, "needs `token`"),
        ({"prompt": "hi", "token": "ocw_wrong"}, "not valid"),
        ({"prompt": "hi", "project": "no/such"}, "no/such"),
        ({"prompt": "hi", "permission": "{"}, "no JSON"),
        ({"prompt": "hi", "permission": '{"edit": "yes"}'}, "no permission rule"),
        ({"prompt": "hi", "timeout": "soon"}, "An input of the action is wrong"),
        ({"prompt": "hi", "directory": "../../../../other"}, "other"),
    ],
)
def test_wrong_inputs_are_told(
    use: Job, server: Installation, inputs: dict[str, str], told: str
) -> None:
    ran = use.use(**{"server": server.url, "token": server.token, **inputs})
    assert ran.exit_code == 1
    assert told in " ".join(ran.messages("error")), ran.said
    assert "Traceback" not in ran.said
