"""That the played forges are like the real ones, as far as programs written for those can tell."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import gitea_api_client as gitea
import gitlab
import pytest
from gitea_api_client.exceptions import ApiException
from github.Repository import Repository
from gitlab.v4.objects import Project

import github
from github import Auth, Github, GithubIntegration, GithubRetry
from sessions.forges.adapter import ForgeKind
from tests.sessions.forges.github_apps import pem
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.web_server import answer

HUNK = "@@ -1,3 +1,4 @@\n a\n+b\n+c\n-d\n e\n"
SHA = "a" * 40
SLOW_DOWN = answer(
    b'{"message": "Too many requests"}',
    status=429,
    content_type="application/json",
    retry_after="1",
)


@pytest.fixture
def fake(request: pytest.FixtureRequest) -> Iterator[FakeForge]:
    with forge(ForgeKind[request.cls.__name__.removeprefix("Test").upper()]) as made:
        made.parts.files = {"till.py": HUNK}
        yield made


class TestGitHub:
    @pytest.fixture
    def repo(self, fake: FakeForge) -> Repository:
        return self.client(fake).get_repo("acme/till")

    def client(self, fake: FakeForge, token: str = TOKEN, **more: Any) -> Github:
        given = {"seconds_between_requests": 0, "seconds_between_writes": 0, "retry": None, **more}
        return Github(base_url=fake.api, auth=Auth.Token(token), lazy=True, **given)

    def test_comments_are_written_edited_and_listed_by_pages(
        self, fake: FakeForge, repo: Repository
    ) -> None:
        issue = repo.get_issue(7)
        made = issue.create_comment("Working")
        made.edit("Done")
        eyes = made.create_reaction("eyes")
        assert made.create_reaction("eyes").id == eyes.id
        made.create_reaction("hooray")
        assert made.delete_reaction(eyes.id)
        with pytest.raises(github.GithubException):
            made.create_reaction("tada")
        assert issue.create_reaction("rocket").content == "rocket"
        for number in range(4):
            issue.create_comment(f"{number}")
        pages = self.client(fake, per_page=2).get_repo("acme/till").get_issue(7).get_comments()
        assert [one.body for one in pages] == ["Done", "0", "1", "2", "3"]
        assert pages.totalCount == 5
        assert [one.content for one in made.get_reactions()] == ["hooray"]

    def test_a_pull_request_is_opened_once_found_and_reviewed(
        self, fake: FakeForge, repo: Repository
    ) -> None:
        wanted = {"title": "Mend", "body": "It", "head": "opencode/mend", "base": "main"}
        repo.create_pull(**wanted, draft=False)
        with pytest.raises(github.GithubException, match="already exists") as caught:
            repo.create_pull(**wanted, draft=False)
        assert caught.value.status == 422
        [found] = repo.get_pulls(state="open", head="acme:opencode/mend")
        assert (found.number, found.head.sha, found.merged) == (1, SHA, False)
        pull = repo.get_pull(1)
        assert [(one.filename, one.patch) for one in pull.get_files()] == [("till.py", HUNK)]
        lines: dict[str, Any] = {"path": "till.py", "side": "RIGHT", "line": 3, "body": "Why?"}
        several = {**lines, "start_line": 2, "start_side": "RIGHT"}
        commit = repo.get_commit(SHA)
        pull.create_review(commit, "Look", "REQUEST_CHANGES", [lines, several])
        assert [one.body for one in pull.get_reviews()] == ["Look"]
        for wrong in ({**lines, "line": 9}, {**several, "start_line": 3}):
            with pytest.raises(github.GithubException) as caught:
                pull.create_review(commit, "Look", "COMMENT", [wrong])
            assert caught.value.status == 422

    def test_checks_and_statuses_are_set(self, fake: FakeForge, repo: Repository) -> None:
        with pytest.raises(github.GithubException, match="authenticate via a GitHub App"):
            repo.create_check_run("OpenCode", SHA, status="in_progress")
        assert repo.get_commit(SHA).create_status("success", description="ok", context="OpenCode")
        fake.parts.is_app = True
        run = repo.create_check_run("OpenCode", SHA, status="in_progress")
        note = {"path": "till.py", "start_line": 2, "end_line": 2, "annotation_level": "notice"}
        output = {"title": "Done", "summary": "ok", "annotations": [{**note, "message": "Why?"}]}
        run.edit(status="completed", conclusion="success", output=output)
        assert (run.conclusion, run.output.annotations_count) == ("success", 1)
        found = repo.get_commit(SHA).get_check_runs(check_name="OpenCode")
        assert [one.id for one in found] == [run.id]

    def test_people_and_refusals(self, fake: FakeForge, repo: Repository) -> None:
        fake.writers = {5}
        assert [repo.get_collaborator_permission(f"person{n}") for n in (5, 6)] == ["write", "read"]
        assert self.client(fake).get_user().login == "person1"
        with pytest.raises(github.BadCredentialsException):
            self.client(fake, "ghp_other").get_repo("acme/till").get_pull(1).title  # noqa: B018
        with pytest.raises(github.UnknownObjectException):
            repo.get_pull(9).title  # noqa: B018

    def test_a_limit_is_waited_for(self, fake: FakeForge) -> None:
        fake.then = [SLOW_DOWN]
        repo = self.client(fake, retry=GithubRetry(total=2)).get_repo("acme/till")
        assert list(repo.get_pulls(state="open", head="acme:none")) == []
        assert len(fake.seen) == 2

    def test_an_app_gets_tokens_that_end(self, fake: FakeForge) -> None:
        address = f"{fake.base}/organizations/acme/settings/apps/new?state=1"
        names = ("url", "redirect_url", "setup_url")
        manifest = {
            "name": "OpenCode",
            **dict.fromkeys(names, "https://x.example"),
            "hook_attributes": {"url": "https://x.example"},
            "public": False,
            "default_permissions": {"pull_requests": "write"},
            "default_events": [],
        }
        fake.apps.register(address, json.dumps(manifest))
        [app] = fake.apps.apps.values()
        installed = fake.apps.install(app, "acme/till")
        auth = Auth.AppAuth(app.number, pem(app.key))
        asks = GithubIntegration(auth=auth, base_url=fake.api, retry=None)
        assert asks.get_repo_installation("acme", "till").id == installed.number
        token = asks.get_access_token(installed.number, {"pull_requests": "read"})
        assert 3500 < (token.expires_at.timestamp() - fake.apps.now) <= 3600
        repo = self.client(fake, token.token).get_repo("acme/till")
        assert list(repo.get_pulls(state="open", head="acme:none")) == []
        with pytest.raises(github.GithubException, match="not accessible by integration"):
            repo.create_check_run("OpenCode", SHA, status="in_progress")
        fake.apps.ahead_s = 3601
        with pytest.raises(github.BadCredentialsException):
            list(repo.get_pulls(state="open", head="acme:none"))


class TestGitLab:
    @pytest.fixture
    def project(self, fake: FakeForge) -> Project:
        return self.client(fake).projects.get("acme/till", lazy=True)

    def client(self, fake: FakeForge, token: str = TOKEN, **more: Any) -> gitlab.Gitlab:
        return gitlab.Gitlab(fake.base, private_token=token, **more)

    def test_notes_are_written_edited_and_listed_by_pages(
        self, fake: FakeForge, project: Project
    ) -> None:
        notes = project.issues.get(7, lazy=True).notes
        made = notes.create({"body": "Working"})
        made.body = "Done"
        made.save()
        eyes = made.awardemojis.create({"name": "eyes"})
        with pytest.raises(gitlab.GitlabCreateError, match="has already been taken") as taken:
            made.awardemojis.create({"name": "eyes"})
        assert taken.value.response_code == 404
        made.awardemojis.create({"name": "tada"})
        made.awardemojis.delete(eyes.id)
        with pytest.raises(gitlab.GitlabDeleteError):
            made.awardemojis.delete(eyes.id)
        for number in range(4):
            notes.create({"body": f"{number}"})
        found = notes.list(iterator=True, per_page=2)
        assert [one.body for one in found] == ["3", "2", "1", "0", "Done"]
        assert [one.name for one in made.awardemojis.list(get_all=True)] == ["tada"]

    def test_a_merge_request_is_opened_once_found_and_reviewed(
        self, fake: FakeForge, project: Project
    ) -> None:
        wanted = {"title": "Mend", "description": "It"}
        wanted |= {"source_branch": "opencode/mend", "target_branch": "main"}
        made = project.mergerequests.create(wanted)
        with pytest.raises(gitlab.GitlabCreateError, match="Another open merge request") as caught:
            project.mergerequests.create(wanted)
        assert caught.value.response_code == 409
        find = {"state": "opened", "source_branch": "opencode/mend", "get_all": True}
        assert [one.iid for one in project.mergerequests.list(**find)] == [made.iid]
        refs = {"base_sha": "b" * 40, "start_sha": "b" * 40, "head_sha": SHA}
        fake.pulls[0]["diff_refs"] = refs
        pull = project.mergerequests.get(1)
        assert (pull.title, pull.diff_refs) == ("Mend", refs)
        at = {"position_type": "text", "old_path": "till.py", "new_path": "till.py", **refs}
        body = {"body": "Why?", "position": {**at, "new_line": 2}}
        pull.discussions.create(body)
        with pytest.raises(gitlab.GitlabCreateError, match="line_code"):
            pull.discussions.create({**body, "position": {**at, "new_line": 9}})
        pull.notes.create({"body": "Look"})
        found = [one.attributes["notes"][0]["body"] for one in pull.discussions.list(get_all=True)]
        assert found == ["Why?", "Look"]
        pull.approve()
        assert fake.parts.approvals == ["1"]

    def test_statuses_people_and_refusals(self, fake: FakeForge, project: Project) -> None:
        statuses = project.commits.get(SHA, lazy=True).statuses
        statuses.create({"state": "running", "name": "OpenCode", "description": "It works"})
        assert [one.status for one in statuses.list(name="OpenCode")] == ["running"]
        fake.writers = {5}
        assert project.members_all.get(5).access_level == 30
        with pytest.raises(gitlab.GitlabGetError) as missing:
            project.members_all.get(6)
        assert missing.value.response_code == 404
        with pytest.raises(gitlab.GitlabAuthenticationError):
            self.client(fake, "glpat-other").auth()

    def test_a_limit_is_waited_for(self, fake: FakeForge, project: Project) -> None:
        fake.then = [SLOW_DOWN]
        assert project.mergerequests.list(state="opened", source_branch="none", get_all=True) == []
        assert len(fake.seen) == 2


class TestGitea:
    """By a client that is generated from Gitea's own description of its API."""

    @pytest.fixture
    async def client(self, fake: FakeForge) -> AsyncIterator[gitea.ApiClient]:
        async with self.signed_in(fake, TOKEN) as made:
            yield made

    def signed_in(self, fake: FakeForge, token: str) -> gitea.ApiClient:
        name = "AuthorizationHeaderToken"
        keys = {"api_key": {name: token}, "api_key_prefix": {name: "token"}}
        return gitea.ApiClient(gitea.Configuration(host=fake.api, **keys))

    async def test_comments_are_written_edited_and_listed_at_once(
        self, fake: FakeForge, client: gitea.ApiClient
    ) -> None:
        issues = gitea.IssueApi(client)
        for number in range(60):
            body = gitea.CreateIssueCommentOption(body=f"{number}")
            made = await issues.issue_create_comment("acme", "till", 7, body)
        assert made.id
        edit = gitea.EditIssueCommentOption(body="Done")
        await issues.issue_edit_comment("acme", "till", made.id, edit)
        eyes = gitea.EditReactionOption(content="eyes")
        hooray = gitea.EditReactionOption(content="hooray")
        for one in (eyes, eyes, hooray):
            await issues.issue_post_comment_reaction("acme", "till", made.id, one)
        await issues.issue_delete_comment_reaction("acme", "till", made.id, eyes)
        found = await issues.issue_get_comments("acme", "till", 7)
        assert [one.body for one in found] == [*map(str, range(59)), "Done"]
        assert fake.reactions.on(made.id) == ["hooray"]

    async def test_a_pull_request_is_opened_once_found_and_reviewed(
        self, fake: FakeForge, client: gitea.ApiClient
    ) -> None:
        repos = gitea.RepositoryApi(client)
        wanted = gitea.CreatePullRequestOption(
            title="Mend", body="It", head="opencode/mend", base="main"
        )
        await repos.repo_create_pull_request("acme", "till", wanted)
        with pytest.raises(ApiException) as caught:
            await repos.repo_create_pull_request("acme", "till", wanted)
        assert caught.value.status == 409
        assert (await repos.repo_get_pull_request("acme", "till", 1)).title == "Mend"
        fake.pulls += [{**fake.pulls[0], "number": number} for number in (2, 3)]
        pages = [
            await repos.repo_list_pull_requests("acme", "till", state="open", limit=2, page=page)
            for page in (1, 2, 3)
        ]
        assert [[one.number for one in page] for page in pages] == [[1, 2], [3], []]
        diff = await repos.repo_download_pull_diff_or_patch("acme", "till", 1, "diff")
        assert diff.endswith(HUNK)
        comment = gitea.CreatePullReviewComment(path="till.py", new_position=2, body="Why?")
        for event in ("COMMENT", "REQUEST_CHANGES", "APPROVED"):
            review = gitea.CreatePullReviewOptions(
                body=event, commit_id=SHA, event=event, comments=[comment]
            )
            await repos.repo_create_pull_review("acme", "till", 1, review)
        review.comments = [comment.model_copy(update={"new_position": 9})]
        with pytest.raises(ApiException) as caught:
            await repos.repo_create_pull_review("acme", "till", 1, review)
        assert caught.value.status == 422
        reviews = await repos.repo_list_pull_reviews("acme", "till", 1, limit=2, page=2)
        assert [one.body for one in reviews] == ["APPROVED"]

    async def test_statuses_people_and_refusals(
        self, fake: FakeForge, client: gitea.ApiClient
    ) -> None:
        repos = gitea.RepositoryApi(client)
        status = gitea.CreateStatusOption(context="OpenCode", description="ok", state="success")
        assert (await repos.repo_create_status("acme", "till", SHA, status)).id == 1
        fake.checks, fake.writers = "failed", {5}
        combined = await repos.repo_get_combined_status_by_ref("acme", "till", SHA)
        assert (combined.state, combined.total_count) == ("failure", 1)
        may = await repos.repo_get_repo_permissions("acme", "till", "person5")
        assert (may.permission, may.user and may.user.id) == ("write", 5)
        with pytest.raises(ApiException) as missing:
            await repos.repo_get_pull_request("acme", "till", 9)
        async with self.signed_in(fake, "other") as stranger:
            with pytest.raises(ApiException) as unknown:
                await gitea.UserApi(stranger).user_get_current()
        fake.then = [SLOW_DOWN]
        with pytest.raises(ApiException) as limited:
            await repos.repo_get_pull_request("acme", "till", 1)
        found = [one.value.status for one in (missing, unknown, limited)]
        assert found == [404, 401, 429]
