from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.utils import timezone

from sessions.forges.adapter import (
    AlreadyOpen,
    CheckCounts,
    Checks,
    Forge,
    ForgeError,
    ForgeKind,
    PullState,
    Thread,
    Wanted,
)
from sessions.forges.registry import NAMES, open_forge
from tests.sessions.forges.servers import TOKEN, FakeForge, forge

WANTED = Wanted("Mend the till", "What it does.", "opencode/mend", "main")


@pytest.fixture(params=list(ForgeKind))
def fake(request: pytest.FixtureRequest) -> Iterator[FakeForge]:
    with forge(request.param) as made:
        yield made


def adapter(fake: FakeForge, **changes: str) -> Forge:
    given = {"api_url": f"{fake.api}/", "path": fake.path, "token": fake.token, **changes}
    return open_forge(fake.kind, **given)


def test_there_is_an_adapter_of_each_kind() -> None:
    assert set(NAMES) == set(ForgeKind)


async def test_it_opens_finds_and_reads_a_pull_request(fake: FakeForge) -> None:
    to = adapter(fake)
    assert await to.find("opencode/mend") is None
    made = await to.create(WANTED)
    assert (made.number, made.title, made.base) == (1, "Mend the till", "main")
    assert made.url.startswith(fake.page)
    assert made.state is PullState.OPEN
    assert await to.find("opencode/mend") == made
    assert await to.find("another") is None
    assert await to.read(1) == made


async def test_it_sends_what_the_real_one_wants(fake: FakeForge) -> None:
    await adapter(fake).create(WANTED)
    ((method, path, headers, body),) = fake.seen
    assert method == "POST"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("OpenCode-Web/")
    if fake.kind is ForgeKind.GITLAB:
        assert path == "/api/v4/projects/acme%2Ftill/merge_requests"
        assert headers["private-token"] == TOKEN
        assert "authorization" not in headers
        assert body["description"] == "What it does."
        return
    assert path.endswith("/repos/acme/till/pulls")
    assert body["body"] == "What it does."
    if fake.kind is ForgeKind.GITHUB:
        assert headers["authorization"] == f"Bearer {TOKEN}"
        assert headers["accept"] == "application/vnd.github+json"
        assert headers["x-github-api-version"] == "2022-11-28"
        assert body["draft"] is False
    else:
        assert headers["authorization"] == f"token {TOKEN}"


async def test_a_draft_is_one_there(fake: FakeForge) -> None:
    made = await adapter(fake).create(Wanted("Mend", "", "opencode/mend", "main", draft=True))
    assert made.state is PullState.DRAFT
    assert (await adapter(fake).read(1)).state is PullState.DRAFT


@pytest.mark.parametrize(("merged", "state"), [(True, "merged"), (False, "closed")])
async def test_it_tells_merged_from_closed(fake: FakeForge, merged: bool, state: str) -> None:
    await adapter(fake).create(WANTED)
    fake.settle(1, merged=merged)
    assert (await adapter(fake).read(1)).state == state
    assert await adapter(fake).find("opencode/mend") is None


@pytest.mark.parametrize("checks", list(Checks))
async def test_it_reads_the_checks_while_it_is_open(fake: FakeForge, checks: Checks) -> None:
    await adapter(fake).create(WANTED)
    fake.checks = checks
    assert (await adapter(fake).read(1)).checks is checks
    fake.settle(1, merged=True)
    assert (await adapter(fake).read(1)).checks is Checks.NONE


@pytest.mark.parametrize("checks", ["failed", "running", "passed"])
async def test_it_counts_the_checks_without_asking_more_often(fake: FakeForge, checks: str) -> None:
    await adapter(fake).create(WANTED)
    fake.checks, fake.passed = checks, 2
    asked = len(fake.seen)
    counts = (await adapter(fake).read(1)).counts
    assert len(fake.seen) - asked <= 2
    if fake.kind is ForgeKind.GITLAB:
        # It tells of the pipeline as a whole.
        assert counts == CheckCounts()
    else:
        assert counts == replace(CheckCounts(passed=2), **{checks: 3 if checks == "passed" else 1})


async def test_a_second_one_of_a_branch_is_refused(fake: FakeForge) -> None:
    await adapter(fake).create(WANTED)
    with pytest.raises(AlreadyOpen, match="open pull request of this branch already"):
        await adapter(fake).create(WANTED)


async def test_a_token_that_is_not_accepted(fake: FakeForge) -> None:
    with pytest.raises(ForgeError, match="does not accept the project's access token") as caught:
        await adapter(fake, token="wrong-token").create(WANTED)
    assert "wrong-token" not in str(caught.value)


async def test_a_repository_that_is_not_there(fake: FakeForge) -> None:
    with pytest.raises(ForgeError, match="no such repository"):
        await adapter(fake, path="acme/other").read(1)


async def test_a_branch_of_a_fork_is_another_one(fake: FakeForge) -> None:
    await adapter(fake).create(WANTED)
    theirs = fake.pulls[0]
    if fake.kind is ForgeKind.GITLAB:
        theirs["source_project_id"] = 99
    elif fake.kind is ForgeKind.GITEA:
        theirs["head"]["repo_id"] = 99
    else:
        theirs["owner"] = "mallory"
    assert await adapter(fake).find("opencode/mend") is None


async def test_gitea_is_asked_page_by_page() -> None:
    with forge(ForgeKind.GITEA) as fake:
        to = adapter(fake)
        await to.create(WANTED)
        fake.pulls = [{**fake.pulls[0], "head": {"ref": f"b{n}"}} for n in range(50)] + fake.pulls
        found = await to.find("opencode/mend")
        assert found is not None
        assert [path.partition("?")[2] for _, path, _, _ in fake.seen[1:]] == [
            "state=open&limit=50&page=1",
            "state=open&limit=50&page=2",
        ]


async def test_comments_are_looked_through_once(fake: FakeForge) -> None:
    for number in range(60):
        fake.comment("issues/7" if fake.kind is ForgeKind.GITLAB else "7", f"Step {number}")
    to, thread = adapter(fake), Thread(7, is_pull=False)
    assert await to.find_comment(thread, "Step 55", since=timezone.now()) == "1055"
    fake.seen.clear()
    assert await to.find_comment(thread, "Another", since=timezone.now()) == ""
    # GitHub's last page is empty; Gitea answers with all, and GitLab is asked for the newest.
    assert len(fake.seen) == (3 if fake.kind is ForgeKind.GITHUB else 1)
