from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.sandbox.hosts import (
    MAX_PATTERNS,
    HostList,
    HostRules,
    parse_pattern,
    parse_patterns,
    parse_target,
)


def allows(pattern: str, target: str) -> bool:
    host, _, port = target.rpartition(":")
    rules = HostRules((HostList("team", (parse_pattern(pattern),)),))
    try:
        return not rules.refusal(parse_target(host, int(port)))
    except ValueError:
        return False


def test_a_pattern_means_exactly_what_it_says(subtests: pytest.Subtests) -> None:
    cases = [
        (
            "*.pkg.test",
            [
                "files.pkg.test:443",
                "a.b.pkg.test:80",
                "FILES.Pkg.test:443",
                "files.pkg.test.:443",
            ],
            [
                *(
                    "pkg.test:443",
                    "evilpkg.test:443",
                    "pkg.test.evil.org:443",
                    ".pkg.test:443",
                ),
                *(
                    "files.pkg.test:22",
                    "files.pkg.testx:443",
                    "files.pkg.test@evil.org:443",
                ),
            ],
        ),
        (
            "pkg.test",
            ["pkg.test:443", "PKG.TEST.:80"],
            ["www.pkg.test:443", "pkg.test:8080"],
        ),
        ("pkg.test:8443", ["pkg.test:8443"], ["pkg.test:443"]),
        (
            "bücher.example",
            ["xn--bcher-kva.example:443", "BÜCHER.example:443"],
            ["bucher.example:443"],
        ),
        ("*.Пример.example", ["a.xn--e1afmkfd.example:80"], ["a.example:80"]),
        # A full-width spelling is the same name; a look-alike in another script is not.
        ("pkg.test", ["\uff50\uff4bg.test:443"], ["\u0440kg.test:443"]),
        (
            "*",
            ["anything.example:443"],
            ["anything.example:22", "8.8.8.8:443", "[2001:db8::1]:443"],
        ),
        ("203.0.113.5", ["203.0.113.5:443"], ["203.0.113.50:443", "[::ffff:203.0.113.5]:443"]),
        ("[2001:db8::1]:8443", ["[2001:DB8:0::1]:8443"], ["[2001:db8::1]:443"]),
        ("2001:db8::1", ["[2001:db8::1]:443"], ["[2001:db8::2]:443"]),
    ]
    for pattern, reached, refused in cases:
        with subtests.test(pattern=pattern, reached=reached):
            assert [target for target in reached if not allows(pattern, target)] == []
            assert [target for target in refused if allows(pattern, target)] == []


def test_what_is_no_host_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        *(
            "",
            ".",
            "a..b",
            "-a.example",
            "a b.example",
            "a_b.example/",
            "x%2eexample",
            "fe80::1%lo",
        ),
        *(
            "127.1",
            "0x7f000001",
            "2130706433",
            "1.2.3.0x4",
            "a.b.0",
            "[pkg.test]",
            "a\nb.example",
        ),
        *("a" * 64 + ".example", "a." * 130 + "example", "xn\u200d.example\x00", "*.pkg.test"),
    ]
    for host in cases:
        with subtests.test(host=host), pytest.raises(ValueError, match=r"."):
            parse_target(host, 443)


def test_a_wrong_pattern_is_explained(subtests: pytest.Subtests) -> None:
    cases = [
        ("https://pkg.test", "name alone, or host:port"),
        ("pkg.test/simple", "letters, digits"),
        ("py*.org", "letters, digits"),
        ("*.*.org", "letters, digits"),
        ("*.127.0.0.1", "nothing below it"),
        ("pkg.test:0", "host:port"),
        ("pkg.test:99999", "host:port"),
        ("pkg.test:https", "host:port"),
        ("10.0.0.0/8", "letters, digits"),
    ]
    for text, why in cases:
        with subtests.test(text=text), pytest.raises(ValueError, match=why):
            parse_pattern(text)


def test_every_list_has_to_allow_a_host_and_the_first_that_does_not_is_named() -> None:
    team = HostList("team", parse_patterns(["*.pkg.test", "github.com"]))
    project = HostList("project", parse_patterns(["files.pkg.test", "evil.example"]))
    rules = HostRules((team, project))
    assert rules.refusal(parse_target("files.pkg.test", 443)) == ""
    assert "the team's list" in rules.refusal(parse_target("evil.example", 443))
    assert rules.refusal(parse_target("github.com", 443)) == (
        "github.com:443 is not on the project's list of hosts that commands may reach"
    )
    assert "no host is allowed" in HostRules(()).refusal(parse_target("pkg.test", 443))


def test_a_list_has_a_bound_and_nothing_twice() -> None:
    assert [str(one) for one in parse_patterns(["A.example", "a.example.", "[::1]:8080"])] == [
        "a.example",
        "[::1]:8080",
    ]
    with pytest.raises(ValueError, match=str(MAX_PATTERNS)):
        parse_patterns(["a.example"] * (MAX_PATTERNS + 1))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.text(max_size=40), st.integers(-1, 70_000))
def test_a_target_is_normal_or_refused(host: str, port: int) -> None:
    try:
        target = parse_target(host, port)
    except ValueError:
        return
    assert target.host.isascii()
    assert target.host == target.host.lower()
    assert parse_target(target.host, target.port) == target


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.text(max_size=40))
def test_a_pattern_written_out_is_the_same_pattern(text: str) -> None:
    try:
        pattern = parse_pattern(text)
    except ValueError:
        return
    assert parse_pattern(str(pattern)) == pattern
