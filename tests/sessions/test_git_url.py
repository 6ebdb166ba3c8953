from __future__ import annotations

import base64

import pytest

from opencode_web.lib.errors import Invalid
from sessions.git.url import authorization, parse_git_url

PROTOCOLS = ("https", "http", "ssh")


def test_it_keeps_the_address_and_takes_the_secret_out(subtests: pytest.Subtests) -> None:
    cases = [
        ("https://host/team/code.git", "https://host/team/code.git", "", "code"),
        (" https://host/team/code/ ", "https://host/team/code/", "", "code"),
        ("https://u:p%40ss@host/code", "https://host/code", "u:p@ss", "code"),
        ("https://token@host:8443/code", "https://host:8443/code", "token:", "code"),
        ("https://:token@[::1]:80/code", "https://[::1]:80/code", ":token", "code"),
        ("git@host:team/code.git", "ssh://git@host/team/code.git", "", "code"),
        ("ssh://git@host:2222/~/code", "ssh://git@host:2222/~/code", "", "code"),
    ]
    for text, url, credential, name in cases:
        with subtests.test(text=text):
            parsed = parse_git_url(text, protocols=PROTOCOLS)
            assert (parsed.url, parsed.credential, parsed.name) == (url, credential, name)


def test_it_refuses_what_git_could_take_for_something_else(subtests: pytest.Subtests) -> None:
    cases = [
        "",
        "code",
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=x",
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "file:///etc",
        "/etc",
        "git://host/code",
        "../other",
        "ssh://-oProxyCommand=touch/x",
        "ssh://-oProxyCommand=x@host/code",
        "ssh://git:password@host/code",
        "-x@host:code",
        "https://host",
        "https:///code",
        "https://host/code?access_token=x",
        "https://host/code#x",
        "https://host/co de",
        "https://host/code\nx",
        "https://host:port/code",
        "https://ho\\st/code",
        "https://host/" + "x" * 1000,
    ]
    for text in cases:
        with subtests.test(text=text), pytest.raises(Invalid):
            parse_git_url(text, protocols=PROTOCOLS)


def test_a_file_is_cloned_only_behind_the_switch() -> None:
    assert parse_git_url("file:///a/code", protocols=("file",)).url == "file:///a/code"


def test_the_credential_is_bound_to_the_site() -> None:
    settings = authorization("https://host:8443/team/code", "u:p@ss")
    token = base64.b64encode(b"u:p@ss").decode()
    assert settings == {"http.https://host:8443/.extraHeader": f"Authorization: Basic {token}"}
