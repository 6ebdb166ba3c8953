"""The content security policies of an app's pages, which let our own scripts in. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.consumers.preview.headers import POLICIES, Headers

# The first of these that a policy has is the rule of its script elements.
_RULES = ("script-src-elem", "script-src", "default-src")
_ANY = "'strict-dynamic'"


def let_in(headers: Headers, urls: Sequence[str], *, nonce: str) -> Headers:
    """Returns: the headers of a page in which scripts of these addresses are allowed, and no
    others that were not before. `nonce`: of the first, where addresses count for nothing."""
    return [
        (name, _let_in(value.decode("latin-1"), urls, nonce).encode("latin-1"))
        if name in POLICIES
        else (name, value)
        for name, value in headers
    ]


def _let_in(value: str, urls: Sequence[str], nonce: str) -> str:
    return ", ".join(_allow(policy, urls, nonce) for policy in value.split(","))


def _allow(policy: str, urls: Sequence[str], nonce: str) -> str:
    rules = dict[str, list[str]]()
    for rule in policy.split(";"):
        if words := rule.split():
            # Of two of one name the first counts.
            rules.setdefault(words[0].lower(), words[1:])
    name = next((one for one in _RULES if one in rules), None)
    if name is None:
        return policy.strip()
    # A nonce would end `'unsafe-inline'`, and with that scripts of the app, so it is the exception.
    is_dynamic = any(word.lower() == _ANY for word in rules[name])
    kept = [word for word in rules[name] if word.lower() != "'none'"]
    own = "script-src" if name == "default-src" else name
    rules[own] = [*kept, *([f"'nonce-{nonce}'"] if is_dynamic else urls)]
    return "; ".join(" ".join([rule, *words]) for rule, words in rules.items())
