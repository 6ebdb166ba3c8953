from __future__ import annotations

import re

from django.apps import apps

from tests.architecture.sources import modules, name_of, tracked_files

# `sessions` is the label of Django's own app: with it these find the browser's sessions, silently.
WRONG_MODEL = re.compile(r"""["']sessions\.[A-Z]\w*["']""")
WRONG_COMMAND = re.compile(r"(?:makemigrations|migrate|sqlmigrate|dumpdata) sessions\b")
TEXTS = {".py", ".md", ".sh", ".yaml", ".yml", ".toml", ""}


def test_the_sessions_app_has_a_label_of_its_own() -> None:
    assert apps.get_app_config("agent_sessions").name == "sessions"
    assert apps.get_app_config("sessions").name == "django.contrib.sessions"


def test_no_code_names_a_model_of_ours_by_the_label_of_django() -> None:
    files = modules("opencode_web", "sessions", "tools", "providers", "teams", "tests", "bench")
    wrong = {name_of(path): WRONG_MODEL.findall(path.read_text()) for path in files}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_no_command_names_the_app_by_the_label_of_django() -> None:
    files = [path for path in tracked_files() if path.suffix in TEXTS]
    assert [name_of(path) for path in files if WRONG_COMMAND.search(path.read_text())] == []
