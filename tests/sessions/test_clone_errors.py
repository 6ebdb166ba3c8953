from __future__ import annotations

import pytest

from sessions.git.clone_errors import UNREACHED, explain_failure

# What git 2.39, curl and OpenSSH 9 say.
SAID = [
    ("fatal: could not read Username for 'https://host': terminal prompts disabled", "sign-in"),
    ("fatal: Authentication failed for 'https://host/code/'", "sign-in"),
    ("fatal: unable to access 'https://host/': The requested URL returned error: 403", "sign-in"),
    ("fatal: unable to access 'https://host/': The requested URL returned error: 301", "redirects"),
    ("fatal: repository 'https://host/code/' not found", "no repository"),
    ("fatal: '/srv/code' does not appear to be a git repository", "no repository"),
    ("fatal: unable to access 'x': Could not resolve host: host", UNREACHED),
    ("ssh: Could not resolve hostname host: Name or service not known", UNREACHED),
    ("fatal: unable to access 'x': Failed to connect to host port 443", UNREACHED),
    ("ssh: connect to host host port 22: Connection refused", UNREACHED),
    ("git@host: Permission denied (publickey).\nfatal: Could not read from remote", "SSH key"),
    ("Host key verification failed.\nfatal: Could not read from remote repository.", "SSH key has"),
    ("error: unable to write file a: No space left on device", "disk"),
    ("fatal: write error: No space left on device\nfatal: early EOF", "disk"),
    ("error: RPC failed; curl 18 transfer closed\nfatal: early EOF", "was lost"),
    ("fatal: unable to access 'x': SSL certificate problem: self-signed", UNREACHED),
    ("fatal: unable to access 'x': Received HTTP/0.9 when not allowed", UNREACHED),
    ("fatal: unable to access 'x': Empty reply from server", UNREACHED),
    (
        "kex_exchange_identification: Connection closed\n"
        "fatal: Could not read from remote repository.",
        UNREACHED,
    ),
]


def test_it_says_what_to_do(subtests: pytest.Subtests) -> None:
    for said, sentence in SAID:
        with subtests.test(said=said):
            assert sentence in explain_failure(said, had_credential=False)


def test_a_given_token_that_is_refused_is_not_asked_for_again() -> None:
    said = explain_failure("fatal: Authentication failed for 'x'", had_credential=True)
    assert said == "The repository rejected this user name and access token."


def test_an_unknown_failure_quotes_git_without_control_characters() -> None:
    said = explain_failure("remote: hi\nfatal: odd \x1b[31mthing\n", had_credential=False)
    assert said == "The clone failed. fatal: odd [31mthing"


def test_a_git_server_that_lacks_the_repository_asks_for_no_sign_in() -> None:
    said = "fatal: remote error: access denied or repository not exported: /shop.git"
    assert "sign-in" not in explain_failure(said, had_credential=False)
    assert "not exported" in explain_failure(said, had_credential=False)
