from __future__ import annotations

import gettext
import json
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.management.commands import makemessages

from opencode_web.lib.languages import is_translated

# What only people who develop this read, or nobody.
IGNORED = [".venv", "tests", "var", "bench", "clients", "docker", "vendor", "words", "prompts"]


class Extraction(makemessages.Command):
    """A new text has no translation rather than that of a similar one."""

    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]


class Command(BaseCommand):
    """Needs GNU gettext."""

    help = "Update the message catalogs from templates, code and scripts, and compile them."

    def handle(self, *args: Any, **options: Any) -> None:  # Django's own shape
        languages = [code for code, _ in settings.LANGUAGES if is_translated(code)]
        for domain in ("django", "djangojs"):
            call_command(
                Extraction(),
                domain=domain,
                locale=languages,
                ignore_patterns=list(IGNORED),
                extensions=["js"] if domain == "djangojs" else ["html", "py", "txt"],
                no_location=True,
                no_obsolete=True,
                verbosity=options["verbosity"],
            )
        for path in Path(settings.LOCALE_PATHS[0]).rglob("*.po"):
            # The time of each extraction would be a change of its own.
            path.write_text(re.sub(r'(?m)^"POT-Creation-Date: .*"\n', "", path.read_text()))
        call_command("compilemessages", locale=languages, ignore_patterns=list(IGNORED))
        for language in languages:
            path = settings.BASE_DIR / "static" / "words" / f"{language}.js"
            path.write_text(script_of(language))


def script_of(language: str) -> str:
    """Returns: the script that brings the words of our modules in a language."""
    folder = Path(settings.LOCALE_PATHS[0])
    catalogue = gettext.translation("djangojs", folder, [language])
    assert isinstance(catalogue, gettext.GNUTranslations)
    # The attribute is as old as the module, and Django reads it the same way.
    texts: dict[str, str] = catalogue._catalog  # type: ignore[attr-defined]
    words = {text: texts[text] for text in sorted(texts) if text}
    return f"window.words = {json.dumps(words, ensure_ascii=False, indent=0)};\n"
