from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from itertools import combinations

import pytest
from django.conf import settings
from django.test import Client

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from teams.actions.shortcuts import bind_shortcut, reset_shortcuts
from teams.actions.users import set_keys_enabled
from teams.commands.acts import ACTS
from teams.commands.pages import PAGES
from teams.commands.registry import BINDABLE, BY_ID, COMMANDS
from teams.models import User
from teams.shortcuts import acting_keys, chosen_keys, clashing, parse_keys

ClientFor = Callable[[User | None], Client]
HTMX = {"HTTP_HX_REQUEST": "true"}
URL = "/me/shortcuts"


def test_keys_have_one_form(subtests: pytest.Subtests) -> None:
    cases = [
        ("n", "n"),
        (" g  h ", "g h"),
        ("Y", "Shift+y"),
        ("Shift+?", "?"),
        ("ctrl+K", "Mod+Shift+k"),
        ("Cmd+k", "Mod+k"),
        ("Alt+ArrowUp", "Alt+ArrowUp"),
        ("Strg+Umschalt+f", "Mod+Shift+f"),
        ("Escape Escape", "Escape Escape"),
        ("F2", "F2"),
        ("Ctrl+Plus", "Mod+Plus"),
        ("ö", "ö"),
        ("", ""),
    ]
    for text, keys in cases:
        with subtests.test(text=text):
            assert parse_keys(text) == keys


def test_keys_that_cannot_be_bound_are_refused(subtests: pytest.Subtests) -> None:
    cases = [
        *("Mod+t", "Ctrl+n", "Cmd+w", "Mod+Shift+t"),
        *("Ctrl+c", "Ctrl+v", "Ctrl+z"),
        *("Enter", "Space", "Escape", "Tab"),
        *("a b c", "Hyper+x", "Nonsense", "<script>", "Shift+", "+"),
    ]
    for text in cases:
        with subtests.test(text=text), pytest.raises(Invalid):
            parse_keys(text)


def test_no_two_shortcuts_begin_with_the_same_keys() -> None:
    bound = chosen_keys({})
    assert [one.id for one in BINDABLE if clashing(one.id, bound[one.id], bound)] == []
    assert all(one.id != other.id for one, other in combinations(COMMANDS, 2))
    assert all(parse_keys(one.keys) == one.keys for one in BINDABLE if not one.is_fixed)


def _bound_by_scripts() -> set[str]:
    scripts = [path.read_text() for path in (settings.BASE_DIR / "static" / "js").glob("*.js")]
    bound = {
        name for text in scripts for name in re.findall(r'bind\(\{\s*id: "([a-z0-9-]+)"', text)
    }
    numbered = {
        name for text in scripts for name in re.findall(r"id: `([a-z-]+)\$\{number\}`", text)
    }
    bound |= {f"{name}{number}" for name in numbered for number in range(1, 10)}
    for text in scripts:
        for table in re.findall(r"^const keys = \{\n(.*?)^\};\nfor .* bind\(", text, re.M | re.S):
            bound |= set(re.findall(r'^  "?([a-z-]+)"?:', table, re.M))
    return bound | {
        name.strip(' "\n')
        for text in scripts
        for ids in re.findall(r"for \(const id of \[([^\]]+)\]\)\s+bind\(", text)
        for name in ids.split(",")
    }


def test_every_command_does_something_and_what_does_something_is_a_command() -> None:
    pages = [path.read_text() for path in (settings.BASE_DIR / "templates").rglob("*.html")]
    found = (one for text in pages for one in re.findall(r'data-command="([a-z0-9 -]+)"', text))
    marked = {name for names in found for name in names.split()}
    done = _bound_by_scripts() | marked
    assert done <= BY_ID.keys()
    assert {one.id for one in ACTS} <= done
    # Keys of a page press a link to it.
    assert {one.id for one in PAGES if one.keys} <= done


# Menus whose items are what somebody looks for or chooses, and not what is done.
LISTS = {"_found.html", "_found_options.html", "_found_here.html", "found.html"}


def test_every_item_of_a_menu_is_a_command() -> None:
    missing = [
        f"{path.name}: {tag}"
        for path in (settings.BASE_DIR / "templates").rglob("*.html")
        if path.name not in LISTS and path.parent.name != "ops"
        for tag in re.findall(r'<[a-z]+ class="menu-item.*?>(?=[^"])', path.read_text())
        if "data-command=" not in tag and "data-entry" not in tag
    ]
    assert missing == []


def test_no_two_commands_have_the_same_name_in_the_message_field() -> None:
    names = [name for one in COMMANDS for name in one.names]
    assert sorted(names) == sorted(set(names))
    # Those of the terminal program that make sense in a browser.
    assert set(names) >= {
        *("compact", "summarize", "undo", "redo", "share", "unshare", "models", "agents", "new"),
        *("clear", "rename", "export", "themes", "help", "sessions", "resume", "continue", "exit"),
        *("quit", "connect", "details", "thinking", "fork", "timeline", "status", "mcps", "copy"),
        *("skills", "variants"),
    }


@pytest.mark.django_db
class TestBinding:
    def test_own_keys_replace_the_first_ones(self, alice: User) -> None:
        bind_shortcut(alice, "home", keys="Alt+h")
        bind_shortcut(alice, "inbox", keys="")
        bound = acting_keys(User.objects.get(pk=alice.pk).preferences)
        assert bound["home"] == "Alt+h"
        assert "inbox" not in bound
        bind_shortcut(alice, "home", keys=None)
        assert alice.preferences["shortcuts"] == {"inbox": ""}
        reset_shortcuts(alice)
        assert alice.preferences["shortcuts"] == {}

    def test_keys_of_another_are_taken_only_when_asked_to(self, alice: User) -> None:
        for keys in ("n", "g", "c x"):
            with pytest.raises(Conflict):
                bind_shortcut(alice, "write", keys=keys)
        assert alice.preferences == {}
        bind_shortcut(alice, "write", keys="g", take=True)
        bound = chosen_keys(alice.preferences)
        assert (bound["write"], bound["home"], bound["inbox"]) == ("g", "", "")

    def test_what_is_fixed_stays(self, alice: User) -> None:
        for name in ("send", "nothing"):
            with pytest.raises(NotFound):
                bind_shortcut(alice, name, keys="s")

    def test_lone_characters_can_be_switched_off(self, alice: User) -> None:
        set_keys_enabled(alice, enabled=False)
        acting = acting_keys(alice.preferences)
        assert acting["palette"] == "Mod+k"
        turns = {"previous-turn", "next-turn", "find", "find-in-file", "panes"}
        assert acting.keys() == {"palette", "model", "agent", "variant", "stop", *turns}

    def test_another_tab_loses_nothing(self, alice: User) -> None:
        other = User.objects.get(pk=alice.pk)
        bind_shortcut(alice, "home", keys="h")
        bind_shortcut(other, "inbox", keys="b")
        assert other.preferences["shortcuts"] == {"home": "h", "inbox": "b"}


@pytest.mark.django_db
class TestPage:
    def test_a_change_acts_on_every_page(self, client_for: ClientFor, alice: User) -> None:
        client = client_for(alice)
        assert client.post(f"{URL}/s/home", {"keys": "Shift+H"})["Location"] == URL
        page = html.unescape(client.get("/me/profile").content.decode())
        found = re.search(r'data-shortcuts="(\{[^}]*\})" data-rebound', page)
        assert found is not None
        assert json.loads(found[1])["home"] == "Shift+h"
        listed = client.get(f"{URL}/list", **HTMX).content.decode()
        assert '<kbd data-keys="Shift+h">Shift H</kbd>' in listed
        # Nine keys that do the same are one row.
        assert listed.count("Choose an answer") == 1
        assert "Choose answer 1" not in listed

    def test_a_clash_is_said_in_its_place(self, client_for: ClientFor, alice: User) -> None:
        client = client_for(alice)
        response = client.post(f"{URL}/s/home", {"keys": "n"}, **HTMX)
        page = html.unescape(response.content.decode())
        assert response.status_code == 422
        assert "This key is already used for “New session”." in page
        assert 'name="take"' in page
        taken = client.post(f"{URL}/s/home", {"keys": "n", "take": "1"}, **HTMX)
        assert taken.status_code == 200
        assert chosen_keys(User.objects.get().preferences)["new-session"] == ""

    def test_what_is_no_key_is_said_in_its_place(self, client_for: ClientFor, alice: User) -> None:
        response = client_for(alice).post(f"{URL}/s/home", {"keys": "<b>"}, **HTMX)
        assert response.status_code == 422
        assert "“&lt;b&gt;” is not a valid shortcut" in response.content.decode()
        assert 'name="take"' not in response.content.decode()

    def test_all_go_back_at_once(self, client_for: ClientFor, alice: User) -> None:
        bind_shortcut(alice, "home", keys="h")
        client = client_for(alice)
        assert b"Reset all" in client.get(URL).content
        client.post(f"{URL}/reset")
        assert chosen_keys(User.objects.get().preferences)["home"] == "g h"

    def test_keys_are_called_as_they_are_on_keyboards(
        self, client_for: ClientFor, alice: User
    ) -> None:
        mac = {"HTTP_USER_AGENT": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"}
        client = client_for(alice)
        page = client.get(URL, **mac).content.decode()
        assert 'value="Cmd+k"' in page
        assert "Keys without ⌘ or ⌥" in page
        page = client.get(URL, HTTP_ACCEPT_LANGUAGE="de").content.decode()
        assert 'value="Strg+k"' in page
        assert '<kbd data-keys="Shift+Enter">Umschalt Enter</kbd>' in page
        assert 'value="Ctrl+k"' in client.get(URL).content.decode()


def test_what_enter_does_while_the_agent_works_is_chosen(
    alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    page = browser.get(URL).content.decode()
    assert 'value="steer" checked' in page
    assert 'data-enter="steer"' in page
    changed = browser.post(f"{URL}/enter", {"enter": "queue"}, **HTMX)
    assert 'value="queue" checked' in changed.content.decode()
    assert 'data-enter="queue"' in browser.get(URL).content.decode()
    assert browser.post(f"{URL}/enter", {"enter": "<b>"}).status_code == 400
    alice.refresh_from_db()
    assert alice.enter_running == "queue"
