from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from providers.llm.adapters.litellm import NOT_INSTALLED
from tests.architecture.sources import ROOT
from tests.providers.llm import (
    servers_cohere,
    servers_converse,
    servers_gemini,
    servers_messages,
    servers_responses,
)
from tests.providers.llm.front import on_a_port
from tests.providers.servers import Call, OpenAIServer, Reply

UV = Path(sys.executable).with_name("uv")
ABSENT = {"django", "litellm", "providers", "opencode_web", "botocore", "cryptography"}
ALONE = Path(__file__).with_name("alone.py")


def run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=120, check=False, **more
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT / "providers" / "llm")
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv")
    (wheel,) = folder.glob("*.whl")
    interpreter = folder / "venv" / "bin" / "python"
    # As old a version of what it needs as this server has tried.
    constraints = ["--constraints", ROOT / "requirements.lock"]
    target = f"{wheel}[bedrock]"
    run(UV, "pip", "install", "--quiet", "--python", interpreter, *constraints, target)
    return interpreter


def _responses() -> httpx.AsyncBaseTransport:
    of = servers_responses
    first = of.answer(of.message(1, "Adding."), of.call(2, "add", '{"a":1}'))
    return of.ResponsesServer(first, of.answer(of.message(3, "Three.")), reasons=True)


def _messages() -> httpx.AsyncBaseTransport:
    server, of = servers_messages.MessagesServer(), servers_messages
    server.answer(of.text("Adding."), of.call("toolu_1", "add", a=1), stop="tool_use")
    server.answer(of.text("Three."))
    return server


def _converse() -> httpx.AsyncBaseTransport:
    server, of = servers_converse.ConverseServer(), servers_converse
    server.answer(of.text("Adding."), of.call("tooluse_1", "add", a=1), stop="tool_use")
    server.answer(of.text("Three."))
    return server


def _gemini() -> httpx.AsyncBaseTransport:
    call = {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    first = [servers_gemini.chunk({"text": "Adding."}), servers_gemini.chunk(call, finish="STOP")]
    return servers_gemini.GeminiServer(
        first, [servers_gemini.chunk({"text": "Three."}, finish="STOP")]
    )


def _cohere() -> httpx.AsyncBaseTransport:
    of = servers_cohere
    first = [*of.text("Adding."), *of.call(0, "c1", '{"a":1}', name="add"), *of.end("TOOL_CALL")]
    return of.CohereServer(first, [*of.text("Three."), *of.end()])


WIRES = [
    ("@ai-sdk/openai", _responses),
    ("@ai-sdk/anthropic", _messages),
    ("@ai-sdk/google", _gemini),
    ("@ai-sdk/amazon-bedrock", _converse),
    ("@ai-sdk/cohere", _cohere),
]


@pytest.mark.deep
@pytest.mark.parametrize(("npm", "vendor"), WIRES)
def test_feat9_fr_06_the_package_plays_a_tool_turn_where_nothing_else_is_installed(
    python: Path, npm: str, vendor: Callable[[], httpx.AsyncBaseTransport]
) -> None:
    with on_a_port(vendor()) as url:
        assert run(python, ALONE, npm, url, cwd="/") == "Adding.|1\nThree.|0\n"


def test_feat9_fr_02_it_speaks_chat_completions_too(python: Path) -> None:
    replies = [Reply(text="Adding.", calls=(Call("add", {"a": 1}),)), Reply(text="Three.")]
    with OpenAIServer(replies) as server:
        npm = "@ai-sdk/openai-compatible"
        assert run(python, ALONE, npm, server.base_url, cwd="/") == "Adding.|1\nThree.|0\n"


SIGN_IN = """
import sys
from opencode_web_llm.sign_in import methods_of, clouds
from opencode_web_llm.sign_in.errors import SignInError
print(*(method.kind for method in methods_of("openai")))
file = '{"type": "service_account", "client_email": "a@b", "private_key": "key"}'
try:
    clouds.read_key_file(file)
except SignInError as exc:
    print(exc)
print(*sys.modules)
"""


def test_feat9_fr_07_the_package_signs_in_where_nothing_else_is_installed(python: Path) -> None:
    methods, missing, modules = run(python, "-c", SIGN_IN, cwd="/").splitlines()
    assert methods == "code device key"
    assert 'Install the extra "google"' in missing
    assert {name.partition(".")[0] for name in modules.split()}.isdisjoint(ABSENT)


def test_nothing_of_the_server_is_needed(python: Path) -> None:
    listed = run(python, "-c", "import sys, opencode_web_llm; print(*sys.modules)").split()
    roots = {name.partition(".")[0] for name in listed}
    assert roots.isdisjoint(ABSENT)


MISSING = """
import asyncio, httpx
from opencode_web_llm import stream
from opencode_web_llm.messages import *
from opencode_web_llm.secret import Secret
model = ResolvedModel(
    ModelRef("any", "m"), "watsonx-ai-provider", "m", None, Secret("k"), "M",
    connection={"project": "p"},
)
request = ProviderRequest(model, (), (UserMessage((Text("Hi"),)),), (), "ses_1")
async def main():
    async with httpx.AsyncHTTPTransport() as transport:
        return [event async for event in stream(request, transport)]
(failed,) = asyncio.run(main())
print(failed.error.message)
"""


def test_a_wire_whose_extra_is_missing_says_so(python: Path) -> None:
    assert run(python, "-c", MISSING, cwd="/").strip() == NOT_INSTALLED
