from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from opencode_web.docs import pages
from opencode_web.docs.pages import FOLDER, MAX_RESULTS, NAMES, Result, load_documents, search
from teams.models import Team, User
from tests.factories import make_user


@pytest.fixture
def reader(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def text_of(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status
    return response.content.decode()


def main_of(html: str) -> str:
    return html[html.index("<main") : html.index("</main>")]


def test_every_file_is_a_page_and_every_page_a_file() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.iterdir())
    assert {path.suffix for path in FOLDER.iterdir()} == {".md"}


def test_a_page_has_one_first_heading_at_its_top_and_no_other() -> None:
    for name, document in load_documents().items():
        assert (FOLDER / f"{name}.md").read_text().startswith(f"# {document.title}\n")
        assert [section.level for section in document.sections].count(1) == 1, name
        assert len(document.sections) > 2, name


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_shown_with_its_headings_and_the_list_of_pages(reader: Client, name: str) -> None:
    html = text_of(reader, "/docs" if name == "index" else f"/docs/{name}")
    document = load_documents()[name]
    main = main_of(html)

    assert re.findall(r"<h1\b.*?</h1>", main) == [
        f'<h1 tabindex="-1" autofocus><span lang="en">{document.title}</span></h1>'
    ]
    ids = re.findall(r'<h[23] id="([^"]+)"', main)
    assert ids == [section.anchor for section in document.sections if section.level > 1]
    assert re.findall(r'class="docs-level-\d" href="#([^"]+)"', main) == [*ids, *ids]
    listed = re.findall(r'<a class="nav-item" href="(/docs[^"]*)"', html)
    assert listed == [pages.page_url(one) for one in NAMES]
    assert html.count('aria-current="page"') == 1


def test_every_link_between_pages_leads_to_a_heading() -> None:
    places = {
        pages.page_url(name): {"", *(section.anchor for section in document.sections)}
        for name, document in load_documents().items()
    }
    followed = 0
    for name, document in load_documents().items():
        for target in re.findall(r'<a href="([^"]+)"', document.html):
            if not target.startswith("https://"):
                path, _, anchor = target.partition("#")
                assert anchor in places[path or pages.page_url(name)], target
                followed += 1
    assert followed > 10


def test_links_stay_in_the_tab_unless_they_leave_the_server() -> None:
    links = [
        link
        for document in load_documents().values()
        for link in re.findall(r"<a [^>]+>", document.html)
    ]
    for link in links:
        assert ('target="_blank"' in link) == ('href="https://' in link)
    assert any("https://" in link for link in links)


def test_a_file_is_read_once(monkeypatch: pytest.MonkeyPatch, reader: Client) -> None:
    load_documents()
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("it was read again"))
    assert "Configuration" in text_of(reader, "/docs/configuration")


@pytest.mark.parametrize("name", ["none", "CONFIGURATION", "indexes", "README", "configuration-md"])
def test_an_unknown_page_is_not_found_without_a_look_at_the_disk(
    monkeypatch: pytest.MonkeyPatch, reader: Client, name: str
) -> None:
    load_documents()
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("it was looked for"))
    html = text_of(reader, f"/docs/{name}", 404)
    assert "There is no documentation page at this address." in html
    assert 'href="/docs/security"' in html
    assert name not in main_of(html)


@pytest.mark.parametrize("path", ["/docs/../README.md", "/docs/..%2fREADME", "/docs/api.md"])
def test_no_path_is_a_page(reader: Client, path: str) -> None:
    text_of(reader, path, 404)


def test_whoever_is_signed_in_may_read_and_nobody_else(db: None, client: Client) -> None:
    for url in ("/docs", "/docs/security", "/docs/none", "/docs?q=sandbox"):
        response = client.get(url)
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login?next=/docs")
    client.force_login(make_user("teamless@example.com", name="Teamless"))
    assert "The sandbox" in text_of(client, "/docs/security")
    assert client.post("/docs").status_code == 405


def test_reading_asks_the_database_for_the_reader_only(
    reader: Client, django_assert_max_num_queries: object
) -> None:
    reader.get("/docs")
    with django_assert_max_num_queries(4):  # type: ignore[operator]  # a context manager
        reader.get("/docs/configuration")


def test_the_menu_and_the_palette_lead_there(reader: Client, team: Team) -> None:
    home = text_of(reader, "/t/acme/")
    assert re.search(r'class="menu-item" href="/docs" [^>]*>.*?Documentation</a>', home)
    assert 'href="/docs"' in text_of(reader, "/t/acme/search?q=manual")


def test_a_search_finds_headings_first_and_then_what_stands_below_them() -> None:
    found = [(one.page, one.title, one.url) for one in search("SANDBOX")]
    assert found[:2] == [
        ("Configuration", "Sandbox", "/docs/configuration#sandbox"),
        ("Security", "The sandbox", "/docs/security#the-sandbox"),
    ]
    assert [one.url for one in search("lease_s")] == [
        "/docs/configuration#database-and-queue",
        "/docs/operations#outages",
    ]
    assert search("rotate key")[0].url == "/docs/operations#rotate-the-secret-key"
    assert search("automation")[0] == Result("Automation", "", "/docs/automation")


def test_a_search_has_an_end() -> None:
    assert len(search("a")) == MAX_RESULTS
    assert search("zebra") == search("") == search("   ") == []


def test_results_lead_to_their_headings(reader: Client) -> None:
    main = main_of(text_of(reader, "/docs?q=troubleshooting"))
    assert 'href="/docs/operations#troubleshooting"' in main
    assert re.search(r"\d results? for “troubleshooting”", main)
    assert 'value="troubleshooting"' in main


def test_a_search_without_words_or_results_says_what_to_do(reader: Client) -> None:
    assert "Enter a word to search for" in main_of(text_of(reader, "/docs?q=%20"))
    nothing = main_of(text_of(reader, "/docs?q=<b>zebra</b>"))
    assert "No results for “&lt;b&gt;zebra&lt;/b&gt;”" in nothing
    assert 'href="/docs"' in nothing
    assert len(main_of(text_of(reader, "/docs?q=" + "z" * 5_000))) < 4_000


def test_the_frame_is_translated_and_the_text_is_not(reader: Client) -> None:
    html = reader.get("/docs/security", headers={"Accept-Language": "de"}).content.decode()
    assert "Auf dieser Seite" in html
    assert '<html lang="de"' in html
    assert '<article class="prose docs-text" lang="en" dir="ltr">' in html
