from __future__ import annotations

import pytest

from sessions.forms.fields import SettingsForm

DEEP = "[" * 60 + "]" * 60


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"model": }', "Line 1, column 11"),
        ("[]", "JSON object"),
        ('{"a": NaN}', "does not support"),
        (f'{{"a": {DEEP}}}', "nested too deeply"),
    ],
)
def test_it_says_what_is_wrong_with_settings(text: str, word: str) -> None:
    form = SettingsForm({"config": text})
    assert not form.is_valid()
    assert word in form.errors["config"][0]


def test_it_reads_settings_and_cleans_what_no_database_takes() -> None:
    form = SettingsForm({"config": '{"username": "\\ud800"}'})
    assert form.is_valid(), form.errors
    assert form.cleaned_data["config"] == {"username": "\ufffd"}
