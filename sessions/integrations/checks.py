"""How the newest commit of a pull request is, while an agent works on it and afterwards."""

from __future__ import annotations

from dataclasses import replace

from opencode_web.lib.db import in_db
from sessions.forges.adapter import Forge, ForgeError
from sessions.forges.commit_checks import Annotation, CheckState, CommitCheck
from sessions.forges.reasons import ForgeReason
from sessions.forges.reviews import Verdict
from sessions.integrations.replies import Shown, session_url, turn_of
from sessions.integrations.reviews import comments_of
from sessions.integrations.steps import Step, is_again, note
from sessions.models import Outcome, OutsideReply, Session

_TITLES = {
    CheckState.RUNNING: "The agent works on it",
    CheckState.PASSED: "The agent is done",
    CheckState.FAILED: "The agent failed",
    CheckState.NEUTRAL: "The agent was stopped",
}
_REQUESTED = "The agent requests changes"


async def show_check(row: OutsideReply, forge: Forge) -> Step:
    """Write how it is, if that is something else now. Raises: ForgeError."""
    check, is_last = await in_db(_check_of, row)
    if row.data.get("state") != check.state:
        again = is_again(row)
        try:
            row.comment = await forge.show_check(check, row.comment, is_again=again)
        except ForgeError as exc:
            if exc.reason is not ForgeReason.REFUSED or not check.annotations:
                raise
            check = replace(check, annotations=())
            row.comment = await forge.show_check(check, row.comment, is_again=True)
        await in_db(note, row, state=check.state.value)
    return Step(is_last=is_last)


def _check_of(row: OutsideReply) -> tuple[CommitCheck, bool]:
    assert row.session is not None
    session = Session.objects.get(pk=row.session.pk)
    shown = turn_of(session, row.prompt_id)
    state = _state_of(shown)
    title, annotations = _TITLES[state], list[Annotation]()
    if state is CheckState.PASSED:
        for review in OutsideReply.objects.select_related("integration").filter(
            session=session, prompt_id=row.prompt_id, kind=OutsideReply.Kind.REVIEW
        ):
            annotations += [
                Annotation(one.path, one.first, one.line, one.body)
                for one in comments_of(review)
                if not one.is_old
            ]
            if review.data["verdict"] == Verdict.REQUEST_CHANGES:
                state, title = CheckState.FAILED, _REQUESTED
    check = CommitCheck(
        mark=row.pk,
        commit=str(row.data["commit"]),
        url=session_url(row.integration.project.team, session),
        state=state,
        title=title,
        summary=shown.text,
        annotations=tuple(annotations),
    )
    return check, shown.is_last


def _state_of(shown: Shown) -> CheckState:
    if not shown.is_last:
        return CheckState.RUNNING
    match shown.outcome:
        case Outcome.DONE:
            return CheckState.PASSED
        case Outcome.FAILED:
            return CheckState.FAILED
        case _:
            return CheckState.NEUTRAL
