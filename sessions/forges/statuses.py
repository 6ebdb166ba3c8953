"""How a commit is said to be: statuses, and the check runs of GitHub.

A check run takes the token of a GitHub App. With any other it becomes a status.

Source: https://docs.github.com/en/rest/checks/runs, https://docs.github.com/en/rest/commits/statuses,
https://docs.gitea.com/api/ (repoCreateStatus) and
https://docs.gitlab.com/api/commits/#set-commit-pipeline-status
"""

from __future__ import annotations

from urllib.parse import quote

from opencode_web.lib.json import JsonObject, list_of, number_of
from opencode_web.lib.json import object_of as inner
from sessions.forges.adapter import ForgeError
from sessions.forges.answers import id_of, object_of, objects_of, text_at
from sessions.forges.api import Api
from sessions.forges.commit_checks import NAME, Annotation, CheckState, CommitCheck
from sessions.forges.reasons import ForgeReason

STATUS = "status"
# That GitHub takes with one request.
MAX_ANNOTATIONS = 50
_CONCLUSIONS = {
    CheckState.PASSED: "success",
    CheckState.FAILED: "failure",
    CheckState.NEUTRAL: "neutral",
}
# None has a word for neither good nor bad that would not hold up a merge.
_STATES = {
    CheckState.RUNNING: "pending",
    CheckState.PASSED: "success",
    CheckState.FAILED: "failure",
    CheckState.NEUTRAL: "success",
}
_GITLAB = {**_STATES, CheckState.RUNNING: "running", CheckState.FAILED: "failed"}


class Statuses:
    """That part of a `Forge`, for Gitea and for GitHub without an App."""

    _api: Api
    # The path of the repository.
    _repo: str

    async def show_check(self, check: CommitCheck, known: str, *, is_again: bool) -> str:
        """Of several statuses of a name the newest counts. Raises: ForgeError."""
        path = f"{self._repo}/statuses/{quote(check.commit, safe='')}"
        await self._api.post(path, {**check.status(_STATES[check.state]), "context": NAME})
        return STATUS


class CheckRuns(Statuses):
    """GitHub's."""

    async def show_check(self, check: CommitCheck, known: str, *, is_again: bool) -> str:
        """Raises: ForgeError."""
        if known != STATUS:
            try:
                return await self._show_run(check, known, is_again=is_again)
            except ForgeError as exc:
                if known or exc.reason is not ForgeReason.FORBIDDEN:
                    raise
        return await super().show_check(check, known, is_again=is_again)

    async def _show_run(self, check: CommitCheck, known: str, *, is_again: bool) -> str:
        runs = f"{self._repo}/check-runs"
        known = known or (await self._find_run(check) if is_again else "")
        if not known:
            begun: JsonObject = {
                "name": NAME,
                "head_sha": check.commit,
                "external_id": check.mark,
                "status": "in_progress",
                **({"details_url": check.url} if check.url else {}),
            }
            known = id_of(await self._api.post(runs, begun))
        if check.state is CheckState.RUNNING:
            return known
        run = f"{runs}/{quote(known, safe='')}"
        for some in await self._missing(run, check):
            await self._api.patch(run, {"output": _output(check, some)})
        done: JsonObject = {"status": "completed", "conclusion": _CONCLUSIONS[check.state]}
        await self._api.patch(run, {**done, "output": _output(check, ())})
        return known

    async def _missing(self, run: str, check: CommitCheck) -> list[tuple[Annotation, ...]]:
        """Returns: the annotations that the run has not yet, in as many as one request takes.

        They are added and never replaced, so those that were sent before must not be sent again.
        """
        if not check.annotations:
            return []
        output = inner(object_of(await self._api.get(run)), "output")
        left = check.annotations[number_of(output, "annotations_count") or 0 :]
        return [left[at : at + MAX_ANNOTATIONS] for at in range(0, len(left), MAX_ANNOTATIONS)]

    async def _find_run(self, check: CommitCheck) -> str:
        path = f"{self._repo}/commits/{quote(check.commit, safe='')}/check-runs"
        found = await self._api.get(path, check_name=NAME, filter="all", per_page="100")
        runs = [object_of(one) for one in list_of(object_of(found), "check_runs")]
        return next((id_of(one) for one in runs if text_at(one, "external_id") == check.mark), "")


class GitLabStatuses:
    """GitLab's, which go into a pipeline of the commit."""

    _api: Api
    # The path of the project.
    _project: str

    async def show_check(self, check: CommitCheck, known: str, *, is_again: bool) -> str:
        """Raises: ForgeError."""
        commit = quote(check.commit, safe="")
        if await self._newest(commit) == _GITLAB[check.state]:
            # It refuses to be told the same twice, also for another prompt.
            return STATUS
        path = f"{self._project}/statuses/{commit}"
        await self._api.post(path, {**check.status(_GITLAB[check.state]), "name": NAME})
        return STATUS

    async def _newest(self, commit: str) -> str:
        path = f"{self._project}/repository/commits/{commit}/statuses"
        found = objects_of(await self._api.get(path, name=NAME))
        return text_at(found[0], "status") if found else ""


def _output(check: CommitCheck, annotations: tuple[Annotation, ...]) -> JsonObject:
    output: JsonObject = {"title": check.title, "summary": check.summary or check.title}
    if annotations:
        output["annotations"] = [
            {
                "path": one.path,
                "start_line": one.first,
                "end_line": one.last,
                "annotation_level": "warning",
                "message": one.text,
            }
            for one in annotations
        ]
    return output
