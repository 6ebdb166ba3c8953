"""Keys of the vendors' forms, put together here so that no scanner takes this file for a leak."""

from __future__ import annotations

from random import Random
from string import ascii_letters, ascii_uppercase, digits

_dice = Random(19)
_URL = ascii_letters + digits + "-_"


def drawn(count: int, letters: str = ascii_letters + digits) -> str:
    return "".join(_dice.choice(letters) for _ in range(count))


def _hex(count: int) -> str:
    return drawn(count, "0123456789abcdef")


def _pem(kind: str = "") -> str:
    lines = [*(drawn(64) for _ in range(12)), f"{drawn(20)}=="]
    name = f"{kind}PRIVATE KEY-----"
    return "\n".join([f"-----BEGIN {name}", *lines, f"-----END {name}"])


# By kind; what stands before and after the hidden value is of the sample.
SAMPLES: list[tuple[str, str, str, str]] = [
    ("AWS key", "", "AKIA" + drawn(16, ascii_uppercase + "234567"), ""),
    ("AWS key", "aws_secret_access_key = ", drawn(36) + "a1b2", "\n"),
    ("GitHub token", "token ", "ghp_" + drawn(36), " "),
    ("GitHub token", "", "github_pat_" + drawn(22) + "_" + drawn(59), "."),
    ("GitLab token", "", "glpat-" + drawn(20), ""),
    ("Slack token", "", f"xoxb-{drawn(12, digits)}-{drawn(12, digits)}-{drawn(24)}", ""),
    (
        "Slack address",
        "https://hooks.slack.com/",
        f"services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}",
        "",
    ),
    ("Stripe key", "", "sk_live_" + drawn(24), ""),
    ("Stripe key", "", "rk_test_" + drawn(99), ""),
    ("OpenAI key", "", "sk-proj-" + drawn(74, _URL) + "T3BlbkFJ" + drawn(70, _URL), " "),
    ("OpenAI key", "", "sk-" + drawn(20) + "T3BlbkFJ" + drawn(20), ""),
    ("Anthropic key", "", "sk-ant-api03-" + drawn(93, _URL) + "AA", ""),
    ("model provider key", "", "sk-or-v1-" + _hex(64), ""),
    ("Google key", "", "AIza" + drawn(33, _URL) + "7a", ""),
    ("Google token", "", "ya29." + drawn(120, _URL), ""),
    ("signed token", "", f"eyJ{drawn(33)}.eyJ{drawn(90, _URL)}.{drawn(43, _URL)}", " "),
    ("private key", "key: ", _pem("RSA "), "\n"),
    ("private key", "", _pem(), "\n"),
    ("private key", '"', _pem("OPENSSH ").replace("\n", "\\n"), '"'),
    ("package token", "", "npm_" + drawn(36), "\n"),
    ("package token", "", "pypi-AgEIcHlwaS5vcmc" + drawn(120, _URL), ""),
    ("cloud token", "", "dop_v1_" + _hex(64), ""),
    ("token of this server", "", "ocw_" + drawn(40), ""),
    ("password in a URL", "postgres://shop:", "h4rd!to-guess", "@db.internal:5432/shop"),
    ("password in a URL", "redis://:", drawn(24), "@cache:6379/0"),
    ("authorization header", "Authorization: Bearer ", drawn(38) + "42", "\r\n"),
    ("value of a variable", "DEPLOY_TOKEN=", drawn(30) + "42", "\n"),
    ("value of a variable", "DB_PASSWORD=", "hunter2hunter2", "\n"),
    ("value of a variable", "  API_KEY: '", "Summer-2026!", "'\n"),
    ("value of a variable", 'export MY_API_KEY="', drawn(38) + "42", '"\n'),
]

# What looks a little like keys.
ORDINARY = [
    "task-force, ask-me-anything-about-the-risk-model, sk-learn and sk_buff",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("no keys here, please")',
    "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "postgres://user:password@localhost/db postgres://app:${PASSWORD}@db http://a:b@c",
    "redis://[[username]:[password]]@localhost:6379/0",
    "http://[::1]:8000/@user https://example.org:8443/a@b mailto:a@b.c git@github.com:a/b.git",
    "SECRET_KEY = os.environ['SECRET_KEY']; TOKEN_LIMIT=4096; API_KEY=your-api-key-goes-here",
    "DB_PASSWORD=your_password_2024 API_KEY=test-key-12345 APP_SECRET=change-me-42-now",
    "DB_PASSWORD=$PG_PASS_2024 TOKEN=get_value_v12() API_TOKEN=session.token_v22 PASSWORD=ab12",
    "TOKEN_FILE=/run/secrets/db22 MAX_TOKEN_COUNT=4096000000 SECRET=unguessable-words-only",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 887d266b0c1e4a5d9f86d081884c7d659a2feaa0 7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "const npm_config_registry = npm_lifecycle_event; pypi-publish; xoxo-hugs; glib-2.0",
    "Authorization: Bearer <token>  authorization: Bearer $TOKEN  Authorization: Basic realm",
    "eyJ is how base64 of JSON begins; eyJhbGciOiJIUzI1NiJ9 alone is no token",
]
