"""The page of roles says what pages answer: the tables of access are held to be so elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from teams.models import Role
from teams.rights import RIGHTS, ROLES, Right
from tests.architecture.access_automation import API, PAGES
from tests.architecture.access_billing import code_for_billing
from tests.architecture.access_table import Codes
from tests.teams.test_page_access import TABLE

# Whom the first four codes of a row are of. Billing has a code of its own.
CAST = (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.VIEWER)
_S = "t/<slug:team>/s/<str:session>/"
_P = "t/<slug:team>/p/<str:project>/"
_SET = "t/<slug:team>/settings/"
_I = "(integration|trackers/<str:tracker>)"
# What stands for each right. Every page that some role is refused belongs to exactly one of them.
STANDS_FOR = {
    "read": f"get (t/<slug:team>/|{_SET}(config|permissions|network)|{_S[:-1]}|{_P}(|network))",
    "work": f"(get|post) (t/<slug:team>/(choices|draft|start(/place)?)|{_SET}budgets/ask"
    f"|{_SET}slack/link|{_P}({_I}/link|mentions|mcp/s/.+/(again|own(/end)?))|{_S}(prompt|queue/<str:prompt>/(move|restore/.+)|compact|(compare/)?stop|resume|retry|part/.+/stop))",
    "answer": f"post ({_S}((permission|question)/<str:\\w+>(/admins)?|permissions/once)"
    f"|.+/rules/<int:rule>/revoke|{_SET}permissions/saved/<int:\\w+>/(revoke|restore))",
    "sessions": f"(get|post) {_S}(rename|archive|delete|compare/keep)",
    "files": f"(get|post) {_S}files/edit",
    "history": f"(get|post) {_S}(restore|fork|turn/.+|file/.+|review/revert.*)",
    "review": f"post {_S}review/(comment.*|send)",
    "publish": f"post ({_S}((publish|worktree)/<str:act>|review/(stage|commit))"
    f"|{_P}rescued/<str:checkout>/branch)",
    "terminals": f"(post (pty|api/pty|{_S}preview)|get {_S}preview/.+)",
    "projects": f"(get|post) (t/<slug:team>/p/new|{_P}(import|clone/again))",
    "schedules": f"post {_P}schedules",
    "others": f"(get|post) ({_S}(queue/<str:prompt>/(edit|deliver|remove)|share.*|privacy)"
    f"|{_SET}slack/link/.+|{_P}{_I}/link/.+|{_P}schedules/.+)"
    "|put session/<session_id>/privacy",
    "set_up": f"(get|post) {_P}{_I}(/secret|/remove|/again/.+|/rules.*|/app.*)?"
    "|(get|put|post|patch|delete) project/<project_id>/(integration|tracker).*"
    f"|post {_P}(network|publishing|secrets.*|repository/.+|settings|delete"
    "|rescued/<str:checkout>/discard)"
    f"|(get|post) {_P}mcp/(new|catalog"
    "|s/<name:name>(/delete|/enabled|/accept|/sign-in|/sign-out|/tools)?)",
    "models": f"(get|post) {_SET}(models/.+|keys)",
    "agents": f"(get|post) {_SET}(config|(commands|agents|skills|mcp)/.+"
    "|permissions/(change|restore)|network|sharing|search.*|secrets.*|plugins.*)",
    "members": "(get|post) (member|invite)_.+|(patch|delete) member/.+"
    "|(get|post|delete) invitation.*"
    f"|(get|post) groups?(_member|_delete)?|(get|post|put|patch|delete) group/?.*"
    f"|post {_P}(access|members)|(get|put) project/<project_id>/access.*",
    "programs": f"(get|post) (services?|service_.+|{_SET}webhooks/.*"
    f"|{_SET}slack(/remove|/again/.+|/channels.*)?)",
    "budgets": f"post {_SET}budgets(/limits.*)?",
    "usage": "get t/<slug:team>/usage.csv",
    "audit": "get audit.*",
    "retention": f"(get|post) {_SET}retention",
    "erase": f"((get|post) {_SET}(erase|export.*)|post erasure)",
    "holds": f"post {_SET}holds.*",
    "team": "post general",
    "own": f"(post (transfer|delete|policy|{_SET}approvals)|put approval)",
}


@dataclass(frozen=True)
class Answer:
    name: str
    codes: Codes
    billing: int

    @property
    def forbidden(self) -> set[Role]:
        return {role for role, code in zip(CAST, self.codes, strict=False) if code == 403}

    @property
    def refused(self) -> set[Role]:
        # To billing there is nothing at all where it may do nothing.
        is_there = bool(self.forbidden) or self.codes[0] != 404
        return self.forbidden | ({Role.BILLING} if is_there and self.billing == 404 else set())


ANSWERS = [
    *(Answer(str(row), row.codes, code_for_billing(row)) for row in (*PAGES, *API)),
    *(Answer(f"{page.method} {page.name}", page.codes, page.code_for("bill")) for page in TABLE),
]
_PAGES = {str(row) for row in PAGES} | {f"{page.method} {page.name}" for page in TABLE}


def answers_of(right: Right) -> list[Answer]:
    pattern = re.compile(STANDS_FOR[right.id])
    return [answer for answer in ANSWERS if pattern.fullmatch(answer.name)]


def test_a_right_is_what_the_pages_answer(subtests: pytest.Subtests) -> None:
    for right in RIGHTS:
        with subtests.test(right=right):
            without = {role for role, has in right.holders() if not has}
            # What everybody reads who sees the team's work restricts nobody else.
            restricted = [
                one
                for one in answers_of(right)
                if (one.forbidden if without - {Role.BILLING} else one.refused)
            ]
            assert restricted
            assert {one.name: one.refused for one in restricted if one.refused != without} == {}


def test_every_page_that_refuses_a_role_belongs_to_one_right() -> None:
    owners = {name: set() for name in _PAGES}  # type: dict[str, set[str]]
    for right in RIGHTS:
        for answer in answers_of(right):
            if answer.forbidden and answer.name in owners:
                owners[answer.name].add(right.id)
    refusing = {one.name for one in ANSWERS if one.name in _PAGES and one.forbidden}
    # Operators are no role of a team.
    refusing.remove("get metrics")
    assert {name: owners[name] for name in refusing if len(owners[name]) != 1} == {}


def test_rights_are_told_apart_and_stand_with_the_least_role_first() -> None:
    places = [ROLES.index(right.need) for right in RIGHTS]
    assert places == sorted(places)
    assert set(ROLES) == set(Role)
    assert {right.id for right in RIGHTS} == STANDS_FOR.keys()
    assert len({str(right.text) for right in RIGHTS}) == len(RIGHTS) == len(STANDS_FOR)
