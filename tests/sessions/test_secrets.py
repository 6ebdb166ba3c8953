from __future__ import annotations

import logging

import pytest

from opencode_web.lib.errors import Invalid
from sessions.access import access_project
from sessions.actions.secrets import set_secret
from sessions.models import Project, ProjectSecret
from sessions.secrets import check_name, check_value, project_redactor
from teams.auth import authenticate_user
from teams.models import AuditEntry, User

VALUE = "a-very-secret-value"


@pytest.mark.parametrize("name", ["DEPLOY_TOKEN", "_x", "a1", " GITHUB_TOKEN "])
def test_a_name_is_that_of_a_variable(name: str) -> None:
    assert check_name(name) == name.strip()


def test_a_name_that_would_break_commands_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        *("", "1A", "A-B", "A B", "A=B", "é", "A\nB", "A\0", "x" * 101),
        *("PATH", "Path", "HOME", "TMPDIR", "LD_PRELOAD", "ld_library_path", "BASH_ENV", "IFS"),
        *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "PYTHONPATH", "GIT_PAGER", "TERM", "PWD"),
    ]
    for name in cases:
        with (
            subtests.test(name=name),
            pytest.raises(Invalid, match=r"name has letters|Take another name"),
        ):
            check_name(name)


def test_a_value_that_cannot_be_kept_secret_or_given_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        ("", "at least 6"),
        ("short", "at least 6"),
        ("   a     ", "at least 6"),
        ("x" * (16 * 1024 + 1), "16 KiB"),
        ("nul\0inside", "is text"),
        ("escape\x1b[31m", "is text"),
        ("surrogate\ud800", "is text"),
    ]
    for value, why in cases:
        with subtests.test(value=value), pytest.raises(Invalid, match=why):
            check_value(value)


def test_a_value_keeps_its_lines_as_a_file_has_them() -> None:
    assert check_value("one line\r\nanother\tone\r\n") == "one line\nanother\tone\n"
    assert check_value("пароль ✓") == "пароль ✓"


@pytest.mark.django_db
def test_a_secret_is_stored_encrypted_and_audited_without_its_value(
    project: Project, alice: User, settings: object, caplog: pytest.LogCaptureFixture
) -> None:
    access = access_project(authenticate_user(alice), project.pk)
    set_secret(access, name="TOKEN", value="the-first-value")
    set_secret(access, name="TOKEN", value=VALUE)
    set_secret(access, name="OTHER", value="another-value")
    row = ProjectSecret.objects.get(name="TOKEN")
    assert VALUE not in row.value
    assert project_redactor(project.pk).secrets == {"TOKEN": VALUE, "OTHER": "another-value"}
    entries = AuditEntry.objects.filter(action="secret.set")
    assert [one.told for one in entries] == [{"name": "TOKEN"}] * 2 + [{"name": "OTHER"}]
    # One that this server cannot read any more is left out and said.
    ProjectSecret.objects.filter(name="OTHER").update(value="gAAAA-of-another-key")
    caplog.set_level(logging.ERROR)
    assert project_redactor(project.pk).secrets == {"TOKEN": VALUE}
    assert "secret OTHER" in caplog.text
    assert VALUE not in caplog.text
