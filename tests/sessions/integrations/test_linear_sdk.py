"""That the played Linear is like the real one, as far as Linear's own package says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, GraphQLNonNull, GraphQLObjectType

from bench import npm
from sessions.integrations import linear as ours
from tests.sessions.integrations import linear_server
from tests.sessions.integrations.linear_server import (
    BOB,
    KEY,
    SECRET,
    limited,
    linear,
    signed,
)

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not shutil.which("node"), reason="node is not installed"),
]
VERSION = "98.0.0"
STORY = Path(__file__).with_name("linear_sdk.mjs")


@pytest.fixture(scope="module")
def package() -> Path:
    folder = npm.cache(f"linear-sdk@{VERSION}")
    package = folder / "node_modules" / "@linear" / "sdk"
    try:
        return npm.install([f"@linear/sdk@{VERSION}"], package, folder)
    except npm.Unavailable as exc:
        pytest.skip(f"Linear's package: {exc}")


def test_its_types_are_those_of_the_package(package: Path) -> None:
    [declared] = (package / "dist").glob("index-*.d.mts")
    text, wrong = declared.read_text(), []

    def check(name: str, members: dict[str, Any]) -> None:
        block = re.search(rf"^type {name} = (?:\w+ & )?{{$(.*?)^}};$", text, re.M | re.S)
        for member, one in members.items():
            found = block and re.search(rf"^  {member}(\??): ", block[1], re.M)
            if not found or (found[1] == "?") == isinstance(one.type, GraphQLNonNull):
                wrong.append(f"{name}.{member}")

    for name, kind in linear_server.SCHEMA.type_map.items():
        if name.startswith("__") or not isinstance(
            kind, GraphQLObjectType | GraphQLInputObjectType
        ):
            continue
        check(name, kind.fields)
        for field, one in kind.fields.items() if name in ("Query", "Mutation") else ():
            if one.args:
                check(f"{name}{field[0].upper()}{field[1:]}Args", one.args)
    assert wrong == []


def test_its_client_is_answered_and_refused_like_ours(package: Path, tmp_path: Path) -> None:
    made = {"id": ours._id_of("rep_1"), "issueId": "ENG-7", "body": "Hi"}
    update = {"id": made["id"], "input": {"body": "Done"}}
    reaction = {"id": ours._id_of("eyes"), "commentId": made["id"], "emoji": "eyes"}
    issue = {"issue": "ENG-7", "author": BOB, "named": True}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("limited", ours._FIND, {"id": made["id"]}),
        ("who", ours._WHO, {"key": "eng"}),
        ("about", ours._ABOUT, issue),
        ("gone", ours._FIND, {"id": made["id"]}),
        ("create", ours._CREATE, {"input": made}),
        ("again", ours._CREATE, {"input": made}),
        ("update", ours._UPDATE, update),
        ("react", ours._REACT, {"input": reaction}),
        ("react_again", ours._REACT, {"input": reaction}),
        ("unreact", ours._UNREACT, {"id": reaction["id"]}),
        ("bad", "{ nothing }", {}),
    ]
    documents, body = tmp_path / "documents.json", tmp_path / "body"
    keys = ("name", "query", "variables")
    documents.write_text(json.dumps([dict(zip(keys, one, strict=True)) for one in asked]))
    with linear() as server:
        server.then = [limited(600)]
        sent, headers = signed(server.says("/oc fix"))
        body.write_bytes(sent)
        told, strange = (
            _run(package, server.base, key, body, headers["Linear-Signature"], documents)
            for key in (KEY, "another")
        )
    assert told["limited"]["type"] == "Ratelimited"
    assert told["limited"]["requestsRemaining"] == 0
    assert told["limited"]["requestsResetAt"] > 1_700_000_000_000
    assert told["who"]["organization"]["urlKey"] == "acme"
    assert told["about"]["issue"]["description"] == "It adds tax twice."
    assert told["create"]["commentCreate"]["success"] is True
    assert told["update"]["commentUpdate"]["success"] is True
    assert told["react"]["reactionCreate"]["success"] is True
    assert told["unreact"]["reactionDelete"]["success"] is True
    assert {told[name]["type"] for name in ("gone", "again", "react_again")} == {"InvalidInput"}
    assert told["bad"]["name"].endswith("LinearError")
    assert strange["who"]["type"] == "AuthenticationError"
    assert told["webhook"] == {
        "right": True,
        "wrong": "Invalid webhook signature",
        "late": "Invalid webhook timestamp",
        "type": "Comment",
        "issue": "ENG-7",
    }


def _run(package: Path, *arguments: object) -> dict[str, Any]:
    base, key, *others = map(str, arguments)
    command = ["node", str(STORY), str(package), base, key, SECRET, *others]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr + done.stdout
    told: dict[str, Any] = json.loads(done.stdout)
    return told
