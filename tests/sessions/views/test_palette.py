from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from sessions.actions.sessions import WorkFolder
from sessions.models import Project, Session
from teams.commands.pages import PAGES
from teams.models import User
from tests.installed_plugins import loaded, write_package
from tests.sessions.factories import make_session

# What looks at files does so on a thread of its own.
pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/search"


def options(client: Client, **query: str) -> str:
    answer = client.get(URL, query, headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def names(html: str) -> list[str]:
    return re.findall(r'<span class="found-title">([^<]+)<', html)


@pytest.fixture
def files(project: Project) -> Path:
    folder = Path(project.directory)
    for name in ("src/till.py", "docs/till & tax.md", ".env"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    return folder


def test_options_stand_in_groups_of_a_list_and_are_counted(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    html = options(client_for(alice), q="")
    assert html.index("Recent sessions") < html.index("Commands")
    assert 'role="listbox"' in html
    count = html.count('role="option"')
    assert f'data-said="{count} results"' in html
    assert html.count('tabindex="-1"') == count
    assert 'role="listbox"' not in options(client_for(alice), q="#zebra")


def test_every_page_has_an_address() -> None:
    place = {"team": "acme", "project": "prj_x"}
    assert [one.id for one in PAGES if not one.url(place)] == []


def test_only_what_acts_on_the_page_is_offered(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    client = client_for(alice)
    assert "data-act" not in options(client, q=">")
    html = options(client, q=">", acts="model,context,send,palette,next-file,<b>,nothing")
    assert re.findall(r'data-act="([^"]+)"', html) == ["model", "context"]
    assert names(options(client, q=">choose the mod", acts="model,context")) == ["Choose the model"]
    # Each says its keys; the page without scripts leaves out what only scripts can do.
    assert 'data-key-for="model"' in html
    assert "Choose the model" not in client.get(URL, {"q": ">", "acts": "model"}).content.decode()


def test_a_name_that_begins_as_typed_goes_before_all_that_only_contains_it(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    found = names(options(client_for(alice), q="members", acts="terminal-share"))
    assert found[0] == "Members"
    assert "Terminal: Let members watch" in found
    # So does one with a word that does, before what has it among its other words.
    assert names(options(client_for(alice), q="token", acts="context"))[0] == "API tokens"


def test_pages_of_settings_are_among_the_commands(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    assert names(options(client_for(alice), q=">members")) == ["Members"]
    assert "API tokens" in names(options(client_for(alice), q=">settings"))


def test_the_session_that_is_shown_comes_last(
    alice: User, session: Session, project: Project, client_for: ClientFor
) -> None:
    session.title = "Till"
    session.save()
    other = make_session(alice, project, title="Till cleanup")
    for shown, last in ((session, "Till"), (other, "Till cleanup")):
        found = names(options(client_for(alice), q="#Till", session=shown.pk))
        assert len(found) == 2
        assert found[-1] == last


def test_files_are_found_where_the_page_is(
    alice: User, project: Project, session: Session, files: Path, client_for: ClientFor
) -> None:
    client = client_for(alice)
    shown = options(client, q="@till", session=session.pk)
    assert names(shown) == ["src/till.py", "docs/till &amp; tax.md"]
    assert f'href="/t/acme/s/{session.pk}?panel=files&amp;file=src%2Ftill.py"' in shown
    assert 'data-panel-tab="files"' in shown
    near = options(client, q="@till", project=project.pk)
    assert names(near) == names(shown)
    assert f"Files of {project.name}" in near
    assert "data-panel-tab" not in near
    # Beside the rest they are asked for by themselves.
    assert "src/till.py" not in options(client, q="till", session=session.pk)
    beside = options(client, q="till", session=session.pk, files="1")
    assert names(beside) == names(shown)
    assert "Open a session or project" in options(client, q="@till")
    page = client.get(URL, {"q": "@till", "session": session.pk}).content.decode()
    assert "src/till.py" in page
    assert f'name="session" value="{session.pk}"' in page


def test_a_project_whose_sessions_have_other_folders_shows_no_files(
    alice: User, project: Project, files: Path, client_for: ClientFor
) -> None:
    make_session(alice, project, folder=WorkFolder(".worktrees/x"))
    assert "Open a session or project" in options(client_for(alice), q="@", project=project.pk)


def test_files_of_others_are_not_found(
    vera: User, charlie: User, project: Project, session: Session, files: Path,
    client_for: ClientFor,
) -> None:  # fmt: skip
    assert "till.py" in options(client_for(vera), q="@till", session=session.pk)
    for near in ({"session": session.pk}, {"project": project.pk}):
        answer = client_for(charlie).get("/t/globex/search", {"q": "@till", **near})
        assert "till.py" not in answer.content.decode()


def test_a_folder_that_cannot_be_read_is_a_sentence(
    alice: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    Path(project.directory).rename(f"{project.directory}-gone")
    html = options(client_for(alice), q="@till", session=session.pk)
    assert 'role="option"' not in html
    assert "palette-none" in html


def test_links_of_installed_plugins_are_for_those_that_they_name(
    alice: User, vera: User, session: Session, client_for: ClientFor, tmp_path: Path
) -> None:
    write_package(
        tmp_path,
        "acme",
        """
        @hookimpl
        def menu_entries():
            return [
                MenuEntry("wiki", "Wiki <b>", "https://wiki.example/?a=1&b=2", words="handbook"),
                MenuEntry("till", "Till admin", "/docs/", need="admin"),
            ]
        """,
    )
    with loaded(tmp_path):
        assert names(options(client_for(vera), q=">handbook")) == ["Wiki &lt;b&gt;"]
        assert "Till admin" not in options(client_for(vera), q=">till admin")
        html = options(client_for(alice), q=">till admin")
        assert names(html)[0] == "Till admin"
        assert 'href="/docs/"' in html
        page = client_for(vera).get("/t/acme/").content.decode()
        assert 'href="https://wiki.example/?a=1&amp;b=2" data-command="plugin-acme-wiki"' in page
        assert "plugin-acme-till" not in page
    assert "plugin-acme-wiki" not in client_for(alice).get("/t/acme/").content.decode()
