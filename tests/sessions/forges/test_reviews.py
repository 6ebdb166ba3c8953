"""Reviews and checks, as each forge takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sessions.forges.adapter import Forge, ForgeError, ForgeKind
from sessions.forges.commit_checks import Annotation, CheckState, CommitCheck
from sessions.forges.reasons import ForgeReason
from sessions.forges.registry import open_forge
from sessions.forges.reviews import LineComment, Review, Verdict, is_in, read_diff, read_hunks
from tests.sessions.forges.servers import TOKEN, FakeForge, forge

HUNKS = "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n@@ -20 +21 @@ def x\n-old\n+new\n"
HEAD = "a" * 40
MARK = "<!-- rep_1 -->"


@pytest.fixture(params=list(ForgeKind))
def fake(request: pytest.FixtureRequest) -> Iterator[FakeForge]:
    with forge(request.param) as made:
        made.parts.files = {"till.py": HUNKS, "other.py": "@@ -0,0 +1 @@\n+x\n"}
        made.pulls.append(pull_on(made.kind, 3, sha=HEAD))
        yield made


def pull_on(kind: ForgeKind, number: int, *, sha: str, branch: str = "topic") -> dict[str, Any]:
    if kind is ForgeKind.GITLAB:
        refs = {"base_sha": "b" * 40, "start_sha": "b" * 40, "head_sha": sha}
        ends = {"source_project_id": 7, "target_project_id": 7, "sha": sha, "diff_refs": refs}
        more = {"web_url": "https://forge.test/p", "source_branch": branch, **ends}
        return {"iid": number, "state": "opened", "title": "T", "target_branch": "main", **more}
    head = {"ref": branch, "sha": sha, "repo": {"id": 7}, "repo_id": 7}
    base = {"ref": "main", "repo": {"id": 7}, "repo_id": 7}
    more = {"html_url": "https://forge.test/p", "head": head, "base": base}
    return {"number": number, "state": "open", "title": "T", "merged_at": None, **more}


def adapter(fake: FakeForge, token: str = TOKEN) -> Forge:
    return open_forge(fake.kind, api_url=fake.api, path=fake.path, token=token)


def review(*comments: LineComment, **more: Any) -> Review:
    return Review(
        MARK, HEAD, **{"verdict": Verdict.COMMENT, "summary": "Well.", **more}, comments=comments
    )


def test_the_lines_of_a_diff() -> None:
    lines = read_hunks(HUNKS, old_path="till.py")
    assert lines.new == {1: (1, 1), 2: (1, 0), 3: (1, 0), 4: (1, 3), 21: (2, 0)}
    assert lines.old == {1: (1, 1), 2: (1, 0), 3: (1, 4), 20: (2, 0)}
    diff = {"till.py": lines}
    assert is_in(diff, LineComment("till.py", 4, "x", start=2))
    assert is_in(diff, LineComment("till.py", 20, "x", is_old=True))
    for wrong in (
        LineComment("till.py", 5, "x"),
        LineComment("till.py", 21, "x", start=4),
        LineComment("till.py", 2, "x", start=4),
        LineComment("till.py", 21, "x", is_old=True),
        LineComment("none.py", 1, "x"),
    ):
        assert not is_in(diff, wrong)


def test_a_whole_diff_of_git() -> None:
    text = (
        'diff --git "a/d/\\303\\244 \\"1\\".py" "b/d/\\303\\244 \\"1\\".py"\n'
        '--- "a/d/\\303\\244 \\"1\\".py"\n+++ "b/d/\\303\\244 \\"1\\".py"\n'
        "@@ -1 +1 @@\n--- not a header\n+++ neither\n\\ No newline at end of file\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
        "@@ -1,2 +0,0 @@\n-a\n-b\n"
        "diff --git a/from b/to\nrename from from\nrename to to\n--- a/from\n+++ b/to\t\n"
        "@@ -5,2 +5,2 @@\n \n+cut of"
    )
    diff = read_diff(text)
    assert list(diff) == ['d/ä "1".py', "gone", "to"]
    assert diff['d/ä "1".py'].old == {1: (1, 0)}
    assert diff["gone"].old == {1: (1, 0), 2: (1, 0)}
    assert (diff["to"].old_path, diff["to"].new) == ("from", {5: (1, 5), 6: (1, 0)})


def test_nothing_leaves_the_block_of_a_suggestion() -> None:
    text = LineComment("a", 1, "Why", suggestion="```\n/merge\n````").text("suggestion")
    assert text == "Why\n\n`````suggestion\n```\n/merge\n````\n`````"
    assert LineComment("a", 1, "Go", suggestion="").text("s") == "Go\n\n```s\n```"


async def test_it_reads_the_lines_that_take_comments(fake: FakeForge) -> None:
    diff = await adapter(fake).read_diff(3)
    assert set(diff) == {"till.py", "other.py"}
    assert diff["till.py"].new == read_hunks(HUNKS, old_path="").new
    assert await adapter(fake).default_branch() == "main"


async def test_comments_are_on_their_lines(fake: FakeForge) -> None:
    comments = (
        LineComment("till.py", 3, "Why?", start=2, suggestion="2 + 2"),
        LineComment("till.py", 2, "Gone.", is_old=True),
        LineComment("till.py", 4, "Same."),
    )
    await adapter(fake).post_review(3, review(*comments), is_again=False)
    if fake.kind is ForgeKind.GITLAB:
        first, second, third = fake.parts.discussions
        assert first["notes"][0]["body"].startswith(
            "Lines 2 to 3: Why?\n\n```suggestion:-1+0\n2 + 2\n```"
        )
        assert (first["position"]["new_line"], "old_line" in first["position"]) == (3, False)
        assert second["position"]["old_line"] == 2
        assert (third["position"]["old_line"], third["position"]["new_line"]) == (3, 4)
        assert fake.comments[-1]["body"].startswith("Well.")
        return
    [made] = fake.parts.reviews
    assert (made["event"], made["commit_id"]) == ("COMMENT", HEAD)
    first, second, third = made["comments"]
    if fake.kind is ForgeKind.GITHUB:
        assert first == {
            "path": "till.py",
            "line": 3,
            "side": "RIGHT",
            "start_line": 2,
            "start_side": "RIGHT",
            "body": f"Why?\n\n```suggestion\n2 + 2\n```\n\n{MARK}",
        }
        assert second["side"] == "LEFT"
    else:
        assert first["new_position"] == 3
        assert first["body"].startswith("Lines 2 to 3: Why?\n\n```\n2 + 2\n```")
        assert second["old_position"] == 2


async def test_what_is_on_no_line_is_refused_or_in_the_summary(fake: FakeForge) -> None:
    wrong = review(LineComment("till.py", 9, "Nowhere."))
    if fake.kind is ForgeKind.GITLAB:
        await adapter(fake).post_review(3, wrong, is_again=False)
        assert "**`till.py:9`**\n\nNowhere." in fake.comments[-1]["body"]
        return
    with pytest.raises(ForgeError) as caught:
        await adapter(fake).post_review(3, wrong, is_again=False)
    assert caught.value.reason is ForgeReason.REFUSED
    assert fake.parts.written == 0


async def test_a_review_whose_answer_was_lost_is_found(fake: FakeForge) -> None:
    wanted = review(LineComment("till.py", 2, "A"), LineComment("till.py", 3, "B"))
    for _ in range(5):
        fake.loses_answers = True
        with pytest.raises(ForgeError, match="could not be reached"):
            await adapter(fake).post_review(3, wanted, is_again=True)
        if fake.parts.reviews or fake.comments:
            break
    fake.loses_answers = False
    known = await adapter(fake).post_review(3, wanted, is_again=True)
    assert known
    assert (len(fake.parts.reviews), len(fake.parts.discussions), len(fake.comments)) == (
        (0, 2, 1) if fake.kind is ForgeKind.GITLAB else (1, 0, 0)
    )


@pytest.mark.parametrize("verdict", list(Verdict))
async def test_a_verdict(fake: FakeForge, verdict: Verdict) -> None:
    await adapter(fake).post_review(3, review(verdict=verdict), is_again=False)
    if fake.kind is ForgeKind.GITLAB:
        assert len(fake.parts.approvals) == (verdict is Verdict.APPROVE)
        changes = fake.comments[-1]["body"].startswith("**Changes requested**")
        assert changes == (verdict is Verdict.REQUEST_CHANGES)
        return
    assert fake.parts.reviews[0]["event"].startswith(verdict.upper())


CHECK = CommitCheck("rep_1", HEAD, "https://here/s/1", CheckState.RUNNING, "At work")


async def test_a_check_goes_from_in_progress_to_its_end(fake: FakeForge) -> None:
    to = adapter(fake)
    known = await to.show_check(CHECK, "", is_again=False)
    done = replace(CHECK, state=CheckState.FAILED, title="Failed")
    assert await to.show_check(done, known, is_again=False) == known == "status"
    begun, ended = fake.parts.statuses
    words = ("running", "failed") if fake.kind is ForgeKind.GITLAB else ("pending", "failure")
    assert (begun["state"], ended["state"]) == words
    assert ended["target_url"] == "https://here/s/1"
    # GitLab refuses to be told the same twice.
    assert await to.show_check(done, known, is_again=True) == known


async def test_gitlab_has_one_running_status_of_two_prompts() -> None:
    with forge(ForgeKind.GITLAB) as fake:
        await adapter(fake).show_check(CHECK, "", is_again=False)
        await adapter(fake).show_check(replace(CHECK, mark="rep_2"), "", is_again=False)
        assert len(fake.parts.statuses) == 1


async def test_an_app_gets_a_check_run_with_every_annotation_once() -> None:
    notes = tuple(Annotation("till.py", at, at, f"No. {at}") for at in range(1, 121))
    with forge(ForgeKind.GITHUB) as fake:
        fake.parts.is_app = True
        to = adapter(fake)
        fake.loses_answers = True
        with pytest.raises(ForgeError):
            await to.show_check(CHECK, "", is_again=False)
        fake.loses_answers = False
        known = await to.show_check(CHECK, "", is_again=True)
        done = replace(CHECK, state=CheckState.PASSED, summary="All **good**.", annotations=notes)
        for _ in range(3):
            fake.loses_answers = True
            with pytest.raises(ForgeError):
                await to.show_check(done, known, is_again=True)
        fake.loses_answers = False
        assert await to.show_check(done, known, is_again=True) == known
        [run] = fake.parts.runs
        assert [one["start_line"] for one in run["annotations"]] == list(range(1, 121))
        assert (run["status"], run["conclusion"]) == ("completed", "success")
        assert run["output"]["summary"] == "All **good**."
        assert fake.parts.statuses == []


async def test_a_wrong_token_writes_nothing(fake: FakeForge) -> None:
    to = adapter(fake, "glpat-9999999999999999")
    for wanted in (
        to.post_review(3, review(), is_again=False),
        to.show_check(CHECK, "", is_again=False),
    ):
        with pytest.raises(ForgeError, match="does not accept"):
            await wanted
    assert fake.parts.written == 0
