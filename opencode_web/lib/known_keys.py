"""Find keys whose form says what they are, so that they can be hidden.

The patterns are our own, after the forms that the vendors document: each begins with something that
only such a key has, so that ordinary text, code and digests are left alone. A secret without such a
form is found only as the value of a variable whose name says what it is. RE2 searches in time
proportional to the text, whatever the text is. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import re2

from opencode_web.lib.crypto import fingerprints

MARK = re.compile(rb"\[hidden [A-Za-z ]{3,40}\]")
_MIN_BITS, _MIN_DIGITS = 3.5, 2
_MIN_PASSWORD_CHARS, _MIN_LONG_CHARS = 6, 20
_MOST_HELD_BYTES = 64 * 1024
# What examples and templates have in place of a password.
_EXAMPLES = {
    *(b"password", b"passwd", b"secret", b"changeme", b"postgres", b"example", b"mypassword"),
    *(b"mysecretpassword", b"your-password", b"yourpassword", b"your_password", b"redacted"),
}
# What stands between the name of a setting and its value.
_GIVES = r"[\"']?\s{0,4}(?::|=>?)\s{0,4}[\"']?"
_GIVES_BEGUN = r"[\"']?\s{0,4}(?::|=>?)?\s{0,4}[\"']?"
_NAMES_KEY = r"[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY)"
_KEY_NAME = rf"{_NAMES_KEY}[A-Z0-9_]*"
# In what stands for a password that people fill in, or in the name of a variable.
_PLACEHOLDER = re.compile(
    rb"example|sample|change|dummy|fake|test|your|insert|placeholder|default|redacted|xxx|123456"
    rb"|passw|secret|token|key",
    re.IGNORECASE,
)
_PEM_HEAD = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BREAK = r"(?:\s|\\[nr]|[\"',|:>#+;]|[0-9]{1,6}[:|\t ])*"
# Lines of base64 as files, strings of programs and numbered listings have them, and the two headers
# of old encrypted keys.
_PEM_LINES = r"(?:[A-Za-z0-9+/=\s\\\"',|:>#.;]|Proc-Type: |DEK-Info: |[A-Z0-9]-[A-Z0-9])"


@dataclass(frozen=True)
class KeyFound:
    """A key in a text, and in words what it is. Units: bytes."""

    start: int
    end: int
    kind: str

    @property
    def mark(self) -> bytes:
        """What is shown in its place."""
        return f"[hidden {self.kind}]".encode()


@dataclass(frozen=True)
class _Form:
    """`pattern` has one group: what is hidden. `begun` is what the end of a text may hold of a key
    of which the rest is still to come."""

    kind: str
    pattern: str
    begun: str
    is_likely: Callable[[bytes], bool] = lambda _: True


def _begun(*heads: str, tail: str) -> str:
    """Returns: a pattern for the beginnings of `heads`, and for one of them with a `tail`."""
    return "|".join(_beginnings(head, tail) for head in heads)


def _beginnings(head: str, tail: str) -> str:
    nested = tail
    for letter in reversed(head[1:]):
        nested = f"(?:{re.escape(letter)}{nested})?"
    return rf"\b{re.escape(head[0])}{nested}"


def _is_random(value: bytes) -> bool:
    """Whether it looks drawn by chance: no words, no constant of an example."""
    counts = Counter(value)
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    digits = sum(48 <= one <= 57 for one in value)
    letters = sum(chr(one).isalpha() for one in value)
    return bits >= _MIN_BITS and digits >= _MIN_DIGITS and letters > 0 and b"EXAMPLE" not in value


def _is_password(value: bytes) -> bool:
    is_example = value.lower() in _EXAMPLES or len(set(value)) <= 2
    return len(value) >= _MIN_PASSWORD_CHARS and not is_example


def _is_chosen(value: bytes) -> bool:
    """Whether somebody has chosen it as a password, or it was drawn by chance.

    Of 600 MB of code and documentation this found one value that was none.
    """
    digits = sum(48 <= one <= 57 for one in value)
    is_mixed = digits >= _MIN_DIGITS and any(chr(one).isalpha() for one in value)
    if len(value) >= _MIN_LONG_CHARS and _is_random(value):
        return True
    return is_mixed and _PLACEHOLDER.search(value) is None


def _is_no_example(value: bytes) -> bool:
    return b"EXAMPLE" not in value and len(set(value)) > 8


_WORD = r"[A-Za-z0-9_-]*"
_FORMS = (
    _Form(
        "private key",
        rf"({_PEM_HEAD}{_PEM_BREAK}(?:[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{0,100}}{_PEM_BREAK}){{0,4}}"
        rf"[A-Za-z0-9+/=]{{16,}}{_PEM_LINES}*"
        r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?)",
        rf"-----BEGIN [A-Z0-9 ]{{0,48}}-{{0,4}}|{_PEM_HEAD}{_PEM_LINES}*"
        r"(?:-{1,5}|-----E[A-Z0-9 ]{0,48}-{0,4})?|-----?B?E?G?I?N?|-{1,4}",
    ),
    _Form(
        "AWS key",
        r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        _begun("AKIA", "ASIA", "ABIA", "ACCA", tail="[A-Z2-7]*"),
        _is_no_example,
    ),
    _Form(
        "AWS key",
        rf"(?i:secret_?access_?key){_GIVES}([A-Za-z0-9/+]{{40}})(?:[^A-Za-z0-9/+=]|\z)",
        rf"\b[A-Za-z_]*(?i:secret_?access_?key){_GIVES_BEGUN}[A-Za-z0-9/+]*|\b(?i:aws)[A-Za-z_]*"
        r"|(?i:s(?:e(?:c(?:r(?:e(?:t[a-z_]{0,12})?)?)?)?)?)",
        _is_random,
    ),
    _Form(
        "GitHub token",
        r"\b(gh[opsur]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})",
        _begun("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", tail="[A-Za-z0-9_]*"),
        _is_no_example,
    ),
    _Form(
        "GitLab token",
        r"\b(gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9._-]+)?)",
        r"\bg(?:l(?:[a-z]{1,5}(?:-[A-Za-z0-9._-]*)?)?)?",
        _is_no_example,
    ),
    _Form(
        "Slack token",
        r"\b(xox[abeoprs]-[0-9]{1,20}-[A-Za-z0-9-]{10,}|xoxe\.xox[bp]-[A-Za-z0-9-]{20,}"
        r"|xapp-[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[a-f0-9]{32,})",
        r"\bx(?:o(?:x(?:[a-z](?:[-.][A-Za-z0-9.-]*)?)?)?|a(?:p(?:p(?:-[A-Za-z0-9-]*)?)?)?)?",
    ),
    _Form(
        "Slack address",
        r"hooks\.slack\.com/((?:services|workflows|triggers)/[A-Za-z0-9]{8,}/[A-Za-z0-9/]{20,})",
        _begun("hooks.slack.com/", tail="[A-Za-z0-9/]*"),
    ),
    _Form(
        "Stripe key",
        r"\b([rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,}=*)",
        r"\b[rs](?:k(?:_[A-Za-z0-9_]*)?)?|" + _begun("whsec_", tail="[A-Za-z0-9+/=]*"),
        _is_no_example,
    ),
    _Form(
        "Anthropic key",
        r"\b(sk-ant-[a-z]{3,5}[0-9]{2}-[A-Za-z0-9_-]{32,})",
        _begun("sk-", tail=_WORD),
        _is_no_example,
    ),
    _Form(
        "OpenAI key",
        r"\b(sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,}"
        r"|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})",
        _begun("sk-", tail=_WORD),
        _is_no_example,
    ),
    _Form(
        "model provider key",
        r"\b(sk-or-v1-[a-f0-9]{64}|sk-[A-Za-z0-9]{32,64}|gsk_[A-Za-z0-9]{40,}"
        r"|xai-[A-Za-z0-9]{60,}|hf_[A-Za-z0-9]{34})\b",
        _begun("sk-", "gsk_", "xai-", "hf_", tail=_WORD),
        _is_random,
    ),
    _Form(
        "Google key",
        r"\b(AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28})(?:[^A-Za-z0-9_-]|\z)",
        _begun("AIza", "GOCSPX-", tail=_WORD),
        _is_random,
    ),
    _Form(
        "Google token",
        r"\b(ya29\.[A-Za-z0-9_-]{40,})",
        _begun("ya29.", tail=_WORD),
    ),
    _Form(
        "signed token",
        r"\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,})",
        _begun("eyJ", tail=r"[A-Za-z0-9_.-]*"),
    ),
    _Form(
        "package token",
        r"\b(npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{60,}|rubygems_[a-f0-9]{48})(?:[^A-Za-z0-9]|\z)",
        _begun("npm_", "pypi-", "rubygems_", tail=_WORD),
        _is_no_example,
    ),
    _Form(
        "cloud token",
        r"\b(do[opr]_v1_[a-f0-9]{64}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
        r"|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|AGE-SECRET-KEY-1[A-Z0-9]{58}"
        r"|AccountKey=[A-Za-z0-9+/]{86}==)",
        _begun("dop_", "doo_", "dor_", "dckr_", "shp", "SG.", tail="[A-Za-z0-9_.-]*")
        + "|"
        + _begun("AGE-SECRET-KEY-1", "AccountKey=", tail="[A-Za-z0-9+/=]*"),
    ),
    _Form(
        "token of this server", r"\b(ocw_[A-Za-z0-9]{40})\b", _begun("ocw_", tail="[A-Za-z0-9]*")
    ),
    _Form(
        "password in a URL",
        r"://[^\s/:@\"'<>{}\[\]$%|\\]{0,100}:([^\s/:@\"'<>{}\[\]$|\\]{3,200})@[A-Za-z0-9\[]",
        r"://?[^\s/@\"'<>{}$|\\]{0,300}@?|:",
        _is_password,
    ),
    _Form(
        "authorization header",
        rf"\b(?i:authorization){_GIVES}(?i:bearer|basic|token)\s{{1,3}}([A-Za-z0-9._~+/=-]{{16,}})",
        rf"\b(?i:authorization){_GIVES_BEGUN}(?:[A-Za-z]{{0,8}}\s{{0,3}}[A-Za-z0-9._~+/=-]*)?"
        r"|\b(?i:a(?:u(?:t(?:h(?:o[a-z]{0,9})?)?)?)?)",
        _is_random,
    ),
    _Form(
        "value of a variable",
        rf"\b{_NAMES_KEY}[\"']?\s?[=:]\s?[\"']?([A-Za-z0-9!@#%^&*+_~=.-]{{10,400}})(?:[\s\"';,]|\z)",
        r"\b[A-Z][A-Z0-9_]*(?:[\"']?\s?(?:[=:]\s?[\"']?[A-Za-z0-9!@#%^&*+_~=.-]*)?)?",
        _is_chosen,
    ),
    _Form(
        "value of a variable",
        rf"\b{_KEY_NAME}[\"']?\s?[=:]\s?[\"']?([A-Za-z0-9+/_~-]{{20,400}}={{0,2}})(?:[\s\"';,]|\z)",
        r"\b[A-Z][A-Z0-9_]*(?:[\"']?\s?(?:[=:]\s?[\"']?[A-Za-z0-9+/_~=-]*)?)?",
        _is_random,
    ),
)


def _options(*, captures: bool = False) -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    # Finding a place takes many times as long where groups are asked for.
    options.never_capture = not captures
    options.max_mem = 64 << 20
    return options


def _compiled(pattern: str, *, captures: bool = False) -> re2._Regexp[bytes]:
    return re2.compile(pattern.encode(), _options(captures=captures))


def _set() -> re2.Set:
    made = re2.Set.MatchSet(_options())
    for one in _FORMS:
        made.Add(one.pattern.encode())
    made.Compile()
    return made


_ANY = _compiled("|".join(one.pattern for one in _FORMS))
_WHICH = _set()
_EACH = [_compiled(one.pattern, captures=True) for one in _FORMS]
_BEGUN = _compiled(rf"(?:{'|'.join(dict.fromkeys(one.begun for one in _FORMS))})\z")


class KnownKeys:
    """Hides all keys but those whose fingerprints `allowed` gives, which is asked only when one is
    found."""

    def __init__(self, allowed: Callable[[], frozenset[str]] = frozenset) -> None:
        self._allowed = allowed

    def found(self, data: bytes) -> Iterator[KeyFound]:
        """Yield what is to be hidden from left to right."""
        for one in find_keys(data):
            allowed = self._allowed()
            value = data[one.start : one.end].decode(errors="replace")
            if not allowed or allowed.isdisjoint(fingerprints(value)):
                yield one

    def data(self, data: bytes) -> bytes:
        """Put marks in place of the keys in a whole. Returns: the same object without any."""
        pieces, position = [], 0
        for one in self.found(data):
            pieces += [data[position : one.start], one.mark]
            position = one.end
        return b"".join([*pieces, data[position:]]) if pieces else data


class KeyStream:
    """Hides keys in what comes in pieces, like in their whole.

    It holds back what may be the beginning of a key. One that is longer than 64 KiB is none.
    """

    def __init__(self, keys: KnownKeys) -> None:
        self._keys = keys
        self._held = b""
        # The last byte that was given out: a key does not begin within a word.
        self._before = b""
        self.hid = False

    def feed(self, data: bytes) -> bytes:
        """Take a piece. Returns: what can be given out by now."""
        data = self._before + self._held + data
        hold = max(begun_at(data), len(self._before))
        if len(data) - hold > _MOST_HELD_BYTES:
            hold = len(data)
        if hold == len(self._before):
            self._held = data[hold:]
            return b""
        return self._give(data, hold)

    def finish(self) -> bytes:
        """Returns: the rest."""
        data = self._before + self._held
        return self._give(data, len(data))

    def _give(self, data: bytes, hold: int) -> bytes:
        pieces, position = [], len(self._before)
        for one in self._keys.found(data):
            if one.end > hold:
                # Its end looks like the beginning of another.
                hold = min(hold, one.start)
                break
            if one.start >= position:
                pieces += [data[position : one.start], one.mark]
                position, self.hid = one.end, True
        pieces.append(data[position:hold])
        self._before, self._held = data[max(hold - 1, 0) : hold], data[hold:]
        return b"".join(pieces)


def find_keys(data: bytes) -> Iterator[KeyFound]:
    """Yield the keys in it from left to right."""
    position = 0
    while found := _ANY.search(data, position):
        at, whole = found.start(), found[0]
        which = min(_WHICH.Match(whole))
        start, end = _EACH[which].match(whole).span(1)
        form = _FORMS[which]
        if form.is_likely(whole[start:end]):
            yield KeyFound(at + start, at + end, form.kind)
            position = at + end
        else:
            position = at + start + 1


def begun_at(data: bytes) -> int:
    """Find where a key may have begun of which the rest is still to come.

    Returns: the end when there is no such place.
    """
    found = _BEGUN.search(data)
    return found.start() if found else len(data)
