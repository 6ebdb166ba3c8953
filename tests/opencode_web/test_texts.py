from __future__ import annotations

import gettext
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.forms import BaseForm
from django.urls import get_resolver
from django.utils.functional import Promise

from opencode_web.management.commands.texts import script_of

FOLDER = Path(settings.LOCALE_PATHS[0])
CATALOGUES = sorted(FOLDER.rglob("*.po"))
LINE = re.compile(r'^(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d)\])? )?"(.*)"$')
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w*\}|<[^>]+>")


def entries(path: Path) -> Iterator[dict[str, str]]:
    # Each text with its translations, by the keywords of the format; the head is left out.
    for block in path.read_text().split("\n\n")[1:]:
        found: dict[str, str] = {}
        key = ""
        for line in block.splitlines():
            assert not line.startswith("#,") or "fuzzy" not in line
            part = LINE.match(line)
            if part:
                key = f"{part[1]}{part[2] or ''}" if part[1] else key
                text = part[3].encode().decode("unicode_escape").encode("latin-1").decode()
                found[key] = found.get(key, "") + text
        if found:
            yield found


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_every_text_is_translated_with_the_same_places(path: Path) -> None:
    for entry in entries(path):
        texts = [text for key, text in entry.items() if key.startswith("msgid")]
        said = [text for key, text in entry.items() if key.startswith("msgstr")]
        assert all(said), texts
        assert len(said) == (2 if len(texts) == 2 else 1), texts
        for text, translation in zip(texts, said, strict=True):
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(translation))
            # They stand in attributes, too.
            assert text.count('"') >= translation.count('"')


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_what_is_compiled_is_what_was_written(path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for entry in entries(path):
        text = entry["msgid"]
        if "msgid_plural" in entry:
            several = entry["msgid_plural"]
            assert compiled.ngettext(text, several, 1) == entry["msgstr0"]
            assert compiled.ngettext(text, several, 2) == entry["msgstr1"]
        elif "msgctxt" in entry:
            assert compiled.pgettext(entry["msgctxt"], text) == entry["msgstr"]
        else:
            assert compiled.gettext(text) == entry["msgstr"]


def test_scripts_get_the_words_of_their_catalogue() -> None:
    path = settings.BASE_DIR / "static" / "words" / "de.js"
    assert path.read_text() == script_of("de")


@pytest.mark.skipif(not shutil.which("xgettext"), reason="gettext is not installed")
def test_every_text_of_the_code_is_in_the_catalogues(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    left_out = shutil.ignore_patterns(".*", "tests", "bench", "var", "vendor", "__pycache__")
    shutil.copytree(settings.BASE_DIR, copy, ignore=left_out)
    command = [sys.executable, "manage.py", "texts"]
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    for path in CATALOGUES:
        found = (copy / path.relative_to(settings.BASE_DIR)).read_text()
        assert sorted(texts_in(found)) == sorted(texts_in(path.read_text())), "run `make texts`"


def texts_in(catalogue: str) -> list[str]:
    # What is not used any more stands behind #~.
    return re.findall(r"^msgid (.*(?:\n\".*)*)", catalogue, flags=re.MULTILINE)


def forms_of(base: type[BaseForm]) -> Iterator[type[BaseForm]]:
    for form in base.__subclasses__():
        yield from forms_of(form)
        if form.__module__.partition(".")[0] in {"opencode_web", "sessions", "teams", "providers"}:
            yield form


def test_every_field_of_a_form_has_a_label_that_can_be_translated() -> None:
    assert get_resolver().url_patterns  # every view, and with them every form
    found = list(forms_of(BaseForm))
    bare = [
        f"{form.__qualname__}.{name}"
        for form in found
        for name, field in form.base_fields.items()  # type: ignore[attr-defined]
        if not isinstance(field.label, Promise) and not field.widget.is_hidden
    ]
    assert len(found) > 30
    # The name of a file.
    assert bare == ["SettingsForm.config"]
