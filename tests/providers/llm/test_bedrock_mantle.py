from __future__ import annotations

import pytest

from providers.llm.connection import build
from providers.llm.errors import RefusedRequest
from providers.llm.route import route_of
from providers.llm.secret import Secret
from tests.providers.llm.talk import ask, go_on, model, request
from tests.providers.llm.vendors import Step, responses

NPM = "@ai-sdk/amazon-bedrock/mantle"
REGION = {"region": "us-west-2"}
KEYS = {"accessKeyId": Secret("AKIADUMMY"), "secretAccessKey": Secret("secret")}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openai.gpt-6-sol", "openai/v1"),
        ("xai.grok-4.6", "openai/v1"),
        ("openai.gpt-oss-20b", "v1"),
    ],
)
def test_a_model_is_below_its_path(name: str, path: str) -> None:
    route = route_of(request(model(NPM, name, connection=REGION), "Hello"))
    assert route.url == f"https://bedrock-mantle.us-west-2.api.aws/{path}/responses"


@pytest.mark.parametrize("region", ["", "evil.test/", "US WEST"])
def test_no_region_leads_elsewhere(region: str) -> None:
    with pytest.raises(RefusedRequest):
        route_of(request(model(NPM, "m", connection={"region": region}), "Hello"))


def test_keys_of_aws_sign_and_a_key_of_bedrock_is_a_bearer() -> None:
    for fields, start in (
        ({}, "Bearer key-of-tests"),
        ({"api_key": Secret(""), "secrets": KEYS}, "AWS4-HMAC-SHA256 Credential=AKIADUMMY/"),
    ):
        called = model(NPM, "openai.gpt-6-sol", connection=REGION, **fields)
        asked = request(called, "Hello")
        assert build(asked, route_of(asked)).headers["authorization"].startswith(start)


async def test_a_turn_of_two_steps_brings_sealed_thinking_back() -> None:
    vendor = responses(Step("Hm.", paths=("a", "b")), Step("So.", "Both."))
    first = request(model(NPM, "openai.gpt-6-sol", connection=REGION), "Look.")
    second = go_on(first, await ask(first, vendor))
    assert (await ask(second, vendor)).text == "Both."
