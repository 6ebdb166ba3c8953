from __future__ import annotations

import io
import threading
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test import Client
from pytest_django import Settings

from opencode_web.lib.errors import Conflict, Invalid
from sessions.access import access_project
from sessions.actions.folders import assign_folder
from sessions.actions.projects import create_project_from_folder, delete_project
from sessions.models import Project, TeamFolder
from teams.access import access_team
from teams.actions.teams import delete_team
from teams.auth import authenticate_user
from teams.models import AuditEntry, Role, Scope, Team, User
from tests.factories import add_member, make_team, make_token, make_user
from tests.sessions.git_server import make_repository

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def worktrees(settings: Settings, tmp_path: Path) -> Path:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    settings.WORKTREES_DIR.mkdir()
    return tmp_path / "worktrees"


@pytest.fixture
def globex(charlie: User) -> Team:
    return Team.objects.get(slug="globex")


@pytest.fixture
def root(db: None) -> User:
    return make_user("root@example.com", operator=True)


@pytest.fixture
def shop(worktrees: Path) -> Path:
    make_repository(worktrees / "shop", {"secret": "of acme"})
    return worktrees / "shop"


def assign(folder: Path, team: Team, operator: User | None = None) -> TeamFolder:
    return assign_folder(folder, team=team, operator=operator, reason="They asked")


def add(user: User, team: Team, path: Path | str) -> Project:
    return create_project_from_folder(access_team(user, team.pk), path=str(path), init=True)


def delete(user: User, project: Project) -> None:
    delete_project(access_project(authenticate_user(user), project.pk))


def refusal(user: User, team: Team, path: Path | str) -> str:
    with pytest.raises(Invalid) as caught:
        add(user, team, path)
    assert caught.value.data == {"field": "path"}
    return caught.value.message


def test_a_deleted_projects_folder_stays_with_its_team(
    alice: User, team: Team, charlie: User, globex: Team, shop: Path
) -> None:
    assign(shop, team)
    delete(alice, add(alice, team, shop))
    refusal(charlie, globex, shop)
    assert add(alice, team, shop).directory == str(shop)


def test_nothing_is_told_of_folders_that_the_team_may_not_use(
    team: Team, charlie: User, globex: Team, shop: Path, worktrees: Path, tmp_path: Path
) -> None:
    assign(shop, team)
    (worktrees / "free").mkdir()
    (worktrees / "link").symlink_to(shop)
    (shop / "sub").mkdir()
    make_repository(tmp_path / "outside", {"a": "a"})
    paths = ["shop", "free", "none", "link", "shop/sub", "shop/none", "../outside", "/etc", "."]
    told = {refusal(charlie, globex, path) for path in [*paths, worktrees / "shop" / ".git"]}
    [sentence] = told
    assert "Ask an operator of this server" in sentence
    assert not (worktrees / "free" / ".git").exists()
    assert not Project.objects.exists()


def test_an_operator_is_told_to_assign_a_folder_first(
    root: User, team: Team, globex: Team, shop: Path
) -> None:
    add_member(globex, root, Role.OWNER)
    assign(shop, team)
    said = {refusal(root, globex, path) for path in ("shop", "none", "../outside")}
    [sentence] = said
    assert sentence.endswith(
        "it is not assigned to this team. Assign folders under “Operations → Folders” first."
    )


def test_who_founds_a_team_gets_nothing_by_it(
    settings: Settings, client: Client, team: Team, shop: Path
) -> None:
    settings.TEAM_CREATION = "everyone"
    assign(shop, team)
    mallory = make_user("mallory@example.com")
    client.force_login(mallory)
    client.post("/teams/new", {"name": "Mine"})
    mine = Team.objects.get(slug="mine")
    form = {"kind": "folder", "folder-path": "shop", "folder-name": ""}
    assert client.post("/t/mine/p/new", form).status_code == 422
    _, secret = make_token(mallory, mine, Scope.ADMIN)
    bearer = {"authorization": f"Bearer {secret}"}
    answer = Client().post(
        "/project", {"directory": "shop"}, content_type="application/json", headers=bearer
    )
    assert answer.status_code == 400
    assert not Project.objects.exists()


@pytest.mark.parametrize("path", ["a", "a/b", "a/b/c"])
def test_a_folder_above_or_inside_another_teams_is_not_free_for_an_operator_either(
    path: str, team: Team, charlie: User, globex: Team, root: User, worktrees: Path
) -> None:
    (worktrees / "a" / "b" / "c").mkdir(parents=True)
    assign(worktrees / "a" / "b", team)
    add_member(globex, root, Role.MEMBER)
    refusal(root, globex, path)
    with pytest.raises(Conflict):
        assign(worktrees / "a", globex)
    with pytest.raises(Conflict):
        assign(worktrees / "a" / "b" / "c", globex)


def test_a_team_may_use_what_is_inside_its_folder_and_not_what_is_around_it(
    alice: User, team: Team, worktrees: Path
) -> None:
    (worktrees / "a" / "b" / "c").mkdir(parents=True)
    assign(worktrees / "a" / "b", team)
    refusal(alice, team, "a")
    add(alice, team, "a/b/c")
    with pytest.raises(Conflict, match="already belongs to a project"):
        add(alice, team, "a/b")
    assert TeamFolder.objects.count() == 1


def test_a_renamed_folder_has_to_be_assigned_again(
    alice: User, team: Team, worktrees: Path, shop: Path
) -> None:
    assign(shop, team)
    shop.rename(worktrees / "store")
    refusal(alice, team, "store")


def test_a_link_leads_to_the_folder_that_counts(
    alice: User, team: Team, globex: Team, worktrees: Path, shop: Path
) -> None:
    assign(shop, globex)
    (worktrees / "own").mkdir()
    assign(worktrees / "own", team)
    (worktrees / "own" / "link").symlink_to(shop)
    refusal(alice, team, "own/link")


def test_an_operator_who_is_a_member_assigns_a_folder_by_adding_it(
    team: Team, root: User, charlie: User, globex: Team, shop: Path
) -> None:
    add_member(team, root, Role.MEMBER)
    delete(make_admin(team), add(root, team, shop))
    row = TeamFolder.objects.get()
    assert (row.path, row.team, row.assigned_by) == (str(shop), team, root)
    entries = AuditEntry.objects.filter(action="operator.assigned_folder")
    assert {entry.team for entry in entries} == {team, None}
    refusal(charlie, globex, shop)


def make_admin(team: Team) -> User:
    user = make_user("admin@example.com")
    add_member(team, user, Role.ADMIN)
    return user


def test_a_refused_project_assigns_nothing(team: Team, root: User, worktrees: Path) -> None:
    (worktrees / "plain").mkdir()
    add_member(team, root, Role.MEMBER)
    with pytest.raises(Invalid, match="not a Git repository"):
        create_project_from_folder(access_team(root, team.pk), path="plain")
    assert not TeamFolder.objects.exists()


def test_another_spelling_on_a_disk_that_ignores_case_is_no_folder(
    alice: User, team: Team, shop: Path, worktrees: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assign(worktrees / "shop", team)
    # As such a disk answers: the name is found, and listed as it is stored.
    resolve = Path.resolve

    def forgiving(path: Path, strict: bool = False) -> Path:
        return path if path.name == "SHOP" else resolve(path, strict)

    monkeypatch.setattr(Path, "resolve", forgiving)
    monkeypatch.setattr(Path, "is_dir", lambda path: path.name in {"shop", "SHOP"})
    refusal(alice, team, "SHOP")
    assert add(alice, team, "shop").directory == str(shop)


def test_an_operator_reassigns_and_each_team_reads_only_of_itself(
    alice: User, team: Team, charlie: User, globex: Team, root: User, shop: Path
) -> None:
    assign(shop, team)
    project = add(alice, team, shop)
    with pytest.raises(Conflict, match="shop of Acme uses"):
        assign(shop, globex, root)
    delete(alice, project)
    row = assign(shop, globex, root)
    refusal(alice, team, shop)
    add(charlie, globex, shop)
    entries = AuditEntry.objects.filter(target_type="teamfolder", actor=root).order_by("pk")
    told = {"name": str(shop), "host": "local", "reason": "They asked"}
    assert [(entry.action, entry.team, entry.told) for entry in entries] == [
        ("operator.withdrew_folder", team, told),
        ("operator.assigned_folder", globex, told),
        ("operator.assigned_folder", None, {**told, "before": "acme", "after": "globex"}),
    ]
    with pytest.raises(Conflict, match="already"):
        assign_folder(Path(row.path), team=globex, operator=root, reason="Again")


def test_a_deleted_teams_folder_waits_for_an_operator(
    alice: User, team: Team, charlie: User, globex: Team, shop: Path
) -> None:
    assign(shop, team)
    add(alice, team, shop)
    delete_team(team, actor=alice, confirm="acme")
    refusal(charlie, globex, shop)
    assign(shop, globex)
    add(charlie, globex, shop)


def test_the_command_assigns(team: Team, globex: Team, shop: Path) -> None:
    out = io.StringIO()
    call_command("assign_folder", "shop", "--team", "acme", stdout=out)
    assert out.getvalue() == f"{shop} is assigned to acme.\n"
    call_command("assign_folder", str(shop), "--team", "globex", stdout=out)
    assert TeamFolder.objects.get().team == globex
    for arguments in (["none", "--team", "acme"], ["shop", "--team", "none"]):
        with pytest.raises(CommandError):
            call_command("assign_folder", *arguments)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("paths", [("a/b", "a/b"), ("a", "a/b")])
def test_two_teams_at_once_do_not_both_get_a_folder(
    paths: tuple[str, str], worktrees: Path, root: User
) -> None:
    (worktrees / "a" / "b").mkdir(parents=True)
    teams = [make_team(root, name="One"), make_team(root, name="Two")]
    together, refused = threading.Barrier(2), list[str]()

    def take(team: Team, path: str) -> None:
        together.wait()
        try:
            add(root, team, path)
        except Invalid as exc:
            refused.append(exc.message)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=take, args=pair) for pair in zip(teams, paths, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert TeamFolder.objects.count() == Project.objects.count() == 1


def test_the_migration_assigns_what_is_clear(
    alice: User,
    bob: User,
    team: Team,
    charlie: User,
    globex: Team,
    root: User,
    worktrees: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Entries of that time have folders in their data.
    monkeypatch.setattr("teams.audit_chain.personal._OF_PROJECTS", frozenset())
    for name in ("living", "gone", "both", "lost", "taken", "nobodys"):
        (worktrees / name).mkdir()
    gone = make_team(root, name="Gone")

    def used(user: User, team: Team, name: str, *, keep: bool = False) -> None:
        assign(worktrees / name, team)
        project = add(user, team, name)
        if not keep:
            delete(user, project)

    used(alice, team, "living", keep=True)
    used(alice, team, "gone")
    used(alice, team, "both")
    used(charlie, globex, "both")
    used(root, gone, "lost")
    used(alice, team, "taken")
    used(charlie, globex, "taken", keep=True)
    delete_team(gone, actor=root, confirm="gone")
    TeamFolder.objects.all().delete()
    migration = import_module("sessions.migrations.0056_team_folder")
    migration._assign_known(apps, connection.schema_editor())
    rows = TeamFolder.objects.values_list("path", "team__slug", "host")
    assert {(Path(path).name, slug, host) for path, slug, host in rows} == {
        ("living", "acme", "local"),
        ("gone", "acme", "local"),
        ("taken", "globex", "local"),
    }
