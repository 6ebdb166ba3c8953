from __future__ import annotations

import pytest

from sessions.forges.adapter import ForgeKind
from sessions.forges.remote import remote_of
from sessions.git.url import parse_git_url

PROTOCOLS = ("https", "http", "ssh", "file")


def test_a_known_host_tells_the_forge(subtests: pytest.Subtests) -> None:
    cases = [
        ("https://github.com/acme/till.git", "github", "acme/till", "https://api.github.com"),
        ("git@github.com:acme/till.git", "github", "acme/till", "https://api.github.com"),
        ("ssh://git@ssh.github.com:443/acme/till", "github", "acme/till", "https://api.github.com"),
        ("https://GitLab.com/a/b/c.git/", "gitlab", "a/b/c", "https://gitlab.com/api/v4"),
        ("git@gitlab.com:a/b/c.git", "gitlab", "a/b/c", "https://gitlab.com/api/v4"),
        ("https://codeberg.org/a/b", "gitea", "a/b", "https://codeberg.org/api/v1"),
    ]
    for url, kind, path, api in cases:
        with subtests.test(url=url):
            remote = remote_of(parse_git_url(url, protocols=PROTOCOLS).url)
            assert remote is not None
            assert (remote.kind, remote.path) == (kind, path)
            assert remote.api_url(ForgeKind(kind)) == api
            assert remote.path_for(ForgeKind(kind), api) == path


@pytest.mark.parametrize(
    ("url", "kind", "api", "path"),
    [
        (
            "https://git.example.com:8443/a/b.git",
            "gitea",
            "https://git.example.com:8443/api/v1",
            "a/b",
        ),
        (
            "ssh://git@git.example.com:2222/a/b.git",
            "gitlab",
            "https://git.example.com/api/v4",
            "a/b",
        ),
        ("http://[::1]:3000/a/b", "github", "http://[::1]:3000/api/v3", "a/b"),
    ],
)
def test_the_api_of_another_host_is_where_it_usually_is(
    url: str, kind: str, api: str, path: str
) -> None:
    remote = remote_of(parse_git_url(url, protocols=PROTOCOLS).url)
    assert remote is not None
    assert remote.kind is None
    assert remote.api_url(ForgeKind(kind)) == api
    assert remote.path_for(ForgeKind(kind), api) == path


def test_a_forge_below_a_folder_of_its_host() -> None:
    remote = remote_of("https://example.com/git/a/b/c.git")
    assert remote is not None
    assert remote.path_for(ForgeKind.GITLAB, "https://example.com/git/api/v4") == "a/b/c"
    assert remote.path_for(ForgeKind.GITEA, "https://example.com/git/api/v1") == "b/c"


def test_what_names_no_repository_has_no_forge(subtests: pytest.Subtests) -> None:
    cases = [
        "file:///srv/till.git",
        "https://github.com/till",
        "https://github.com/",
        "https://github.com/../x/y",
        "https://github.com/a/%2e%2e/b",
        "https://github.com/a//b",
        "",
    ]
    for url in cases:
        with subtests.test(url=url):
            assert remote_of(url) is None
