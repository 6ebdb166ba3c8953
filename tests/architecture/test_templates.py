from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import minify
import pytest
from django.conf import settings
from django.template import TemplateSyntaxError
from django.template.loader import get_template

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
FRAGMENTS = [path for path in TEMPLATES if path.name.startswith("_")]
TEXTS = {path: path.read_text() for path in TEMPLATES}
STYLES = sorted((ROOT / "static" / "css").glob("*.css"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))

MAX_TEMPLATE_LINES = 120
MAX_STYLE_LINES = 2_000
# Of what a page loads at once, and of everything: `import()` brings the rest when it is needed.
# Answers that no typed word gives by accident, and a focus that is never lost, took two thousand,
# and Web Push on the page of notifications one more. Of the first, four hundred are for keys that
# come before them, and fourteen hundred for pages that take each other's place: each part begins
# again with them, and the scripts come once and not with every page. Of all, that took nine
# thousand.
MAX_FIRST_SCRIPT_BYTES = 21_800
MAX_SCRIPT_BYTES = 218_800

COMMENT = re.compile(r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", re.DOTALL)
BLOCK = re.compile(r"\{%.*?%\}", re.DOTALL)
VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
FORBIDDEN = {
    "safe filter": re.compile(r"\|\s*safe(?:seq)?\b"),
    "autoescape off": re.compile(r"autoescape\s+off"),
    "inline style": re.compile(r"<style\b|\sstyle="),
    "inline handler": re.compile(r"\son[a-z]+=|\shx-on[:=]"),
    "script without src": re.compile(r"<script(?![^>]*\ssrc=)"),
}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "templates"))


def without_template_tags(text: str) -> str:
    return VALUE.sub("x", BLOCK.sub(" ", COMMENT.sub("", text)))


class Roots(HTMLParser):
    """The elements at the top, each with its attributes. Branches of a condition count singly."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.found: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth == 0:
            self.found.append({key: value or "" for key, value in attrs})
        if tag not in VOID:
            self.depth += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth == 0:
            self.found.append({key: value or "" for key, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag not in VOID


class Actions(HTMLParser):
    """Elements with hx-get or hx-post that a browser without JavaScript could not use."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[bool] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {key for key, _ in attrs}
        if tag == "form":
            self.forms.append("action" in names)
        usable = "href" in names or any(self.forms)
        # What loads by itself is no control: polling, or coming into view.
        automatic = "hx-trigger" in names and tag not in {"a", "button"}
        if "hx-get" in names and not usable and not automatic:
            self.wrong.append(self.get_starttag_text() or tag)
        if "hx-post" in names and not any(self.forms):
            self.wrong.append(self.get_starttag_text() or tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self.forms:
            self.forms.pop()


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 20
    assert len(FRAGMENTS) > 20


# There are hundreds of templates: each rule goes through all of them and names those that break it.
def _error_of(path: Path) -> str:
    try:
        get_template(name_of(path))
    except TemplateSyntaxError as exc:
        return str(exc)
    return ""


def test_they_compile() -> None:
    errors = {name_of(path): _error_of(path) for path in TEMPLATES}
    assert {name: error for name, error in errors.items() if error} == {}


def test_they_are_short() -> None:
    lengths = {name_of(path): len(TEXTS[path].splitlines()) for path in TEMPLATES}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_TEMPLATE_LINES} == {}


def test_fragments_begin_with_what_they_need_and_who_swaps_them() -> None:
    firsts = {name_of(path): TEXTS[path].splitlines()[0] for path in FRAGMENTS}
    said = re.compile(r"\{# context: .+; swapped by: .+ #\}")
    assert {name: first for name, first in firsts.items() if not said.fullmatch(first)} == {}


def _wrong_root(path: Path) -> str:
    roots = Roots()
    roots.feed(without_template_tags(TEXTS[path]))
    roots.close()
    if roots.depth != 0:
        return "elements are left open"
    if len(roots.found) != 1:
        return f"{len(roots.found)} roots"
    if not roots.found[0].get("id"):
        return "no id"
    name = path.stem.removeprefix("_")
    classes = set(roots.found[0].get("class", "").split())
    return "" if {name, name.replace("_", "-")} & classes else f"only {classes} for classes"


def test_fragments_have_one_root_with_an_id_and_the_class_of_their_file() -> None:
    wrong = {name_of(path): _wrong_root(path) for path in FRAGMENTS}
    assert {name: why for name, why in wrong.items() if why} == {}


def test_they_have_nothing_that_the_content_security_policy_forbids() -> None:
    found = [
        (name_of(path), what)
        for path in TEMPLATES
        for what, pattern in FORBIDDEN.items()
        if pattern.search(COMMENT.sub("", TEXTS[path]))
    ]
    assert found == []


def _controls_that_need_scripts(path: Path) -> list[str]:
    actions = Actions()
    actions.feed(without_template_tags(TEXTS[path]))
    return actions.wrong


def test_they_work_without_scripts() -> None:
    wrong = {name_of(path): _controls_that_need_scripts(path) for path in TEMPLATES}
    assert {name: controls for name, controls in wrong.items() if controls} == {}


def test_style_sheets_stay_within_their_budget() -> None:
    assert {path.name for path in STYLES} == {
        "tokens.css",
        "base.css",
        "layout.css",
        "components.css",
        "session.css",
    }
    assert sum(len(path.read_text().splitlines()) for path in STYLES) <= MAX_STYLE_LINES


def test_a_style_sheet_keeps_to_the_house_style(subtests: pytest.Subtests) -> None:
    for path in STYLES:
        with subtests.test(path=path):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)

            assert "!important" not in text
            # Languages from right to left have the same sheets: `inline-start`, not `left`.
            assert not re.findall(
                r"-(?:left|right)\b|(?<![-\w])(?:left|right): |: (?:left|right);", text
            )
            assert not re.findall(r"(?m)^[^{};:]*#[a-z][^{};]*\{", text), "ids are not for styling"
            # What `:has()` looks for and what is styled because of it have names: otherwise each
            # element that comes restyles the page.
            assert not re.findall(r":has\((?:[^()]*[\s>+~,])?[:*].*", text)
            assert not re.findall(
                r":has\((?:[^()]|\([^()]*\))*\)[^,{}]*[\s>+~](?:\*|:(?!is\()).*", text
            )
            if path.name != "tokens.css":
                assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch|light-dark)\(", text)


def test_every_variable_of_a_style_sheet_is_a_token() -> None:
    tokens = (ROOT / "static" / "css" / "tokens.css").read_text()
    known = set(re.findall(r"(--[a-z0-9-]+):", tokens))
    styles = "".join(path.read_text() for path in STYLES)
    used = set(re.findall(r"var\((--[a-z0-9-]+)", styles))

    assert used <= known
    # Unused names are weight that nobody dares to remove later.
    assert known <= used


# Only pages of a sign-in load it.
OWN_SCRIPTS = {"passkey.js"}


def test_hand_written_scripts_stay_within_their_budget() -> None:
    texts = {path.name: path.read_text() for path in SCRIPTS}
    templates = "".join(TEXTS.values())
    first: set[str] = set()
    found = set(re.findall(r'static "js/([^"]+)"', templates)) - OWN_SCRIPTS
    while found:
        first |= found
        found = {
            name
            for one in found
            for name in re.findall(r'(?:from|import)\s+"\./([^"]+)"', texts[one])
        } - first
    later = {name for text in texts.values() for name in re.findall(r'import\("\./([^"]+)"', text)}

    # A module that nothing brings is dead, and one that comes at once gains nothing by `import()`.
    reached = set(later)
    while (
        more := {
            name
            for one in reached
            for name in re.findall(r'(?:from|import)\s+"\./([^"]+)"', texts[one])
        }
        - reached
    ):
        reached |= more
    assert not later & first
    assert first | reached | OWN_SCRIPTS == texts.keys()
    # As they are served: what comments say costs nothing.
    small = [minify.string("text/javascript", texts[name]) for name in first]
    assert sum(len(text.encode()) for text in small) <= MAX_FIRST_SCRIPT_BYTES
    assert sum(len(text.encode()) for text in texts.values()) <= MAX_SCRIPT_BYTES


def test_a_script_imports_only_its_neighbours_and_hangs_on_data_attributes(
    subtests: pytest.Subtests,
) -> None:
    for path in SCRIPTS:
        with subtests.test(path=path):
            text = path.read_text()

            for name in re.findall(r"(?:from\s+|import\s+|import\()\"([^\"]+)\"", text):
                assert name.startswith("./")
                assert (path.parent / name).is_file()
            assert "eval(" not in text
            assert "new Function" not in text
            assert ".innerHTML" not in text


# An address from the root forgets BASE_PATH. Previews have hosts of their own.
_FROM_ROOT = {
    ".html": re.compile(
        r"""(?:href|src|action|content|hx-\w+|data-[\w-]+)=["']/(?!\.opencode-web/)"""
    ),
    ".js": re.compile(r"""["'`]/[a-z][\w-]*(?:[./"'`?$]|\$\{)"""),
    ".css": re.compile(r"""url\(["']?/"""),
}


def test_no_address_forgets_the_path_below_which_the_site_is() -> None:
    styles = (path for path in STYLES if path.suffix == ".css")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:80]}"
        for path in (*TEMPLATES, *SCRIPTS, *styles, ROOT / "templates" / "sw.js")
        for line in path.read_text().splitlines()
        if _FROM_ROOT[path.suffix].search(line)
    ]
    # The page that signs in ends with it.
    assert [one for one in found if 'endsWith("/login")' not in one] == []


def test_every_icon_is_in_the_sprite() -> None:
    sprite = (ROOT / "static" / "icons.svg").read_text()
    known = set(re.findall(r'<symbol id="([a-z0-9-]+)"', sprite))
    used = {
        name
        for path in TEMPLATES
        for name in re.findall(r'(?:\{% icon |\bicon=)"([a-z0-9-]+)"', TEXTS[path])
    }

    assert used
    assert used <= known
