from __future__ import annotations

import base64
import io
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from PIL import Image

from providers import llm, pictures
from providers.llm.errors import RefusedFiles
from providers.llm.events import Failed, StreamEvent
from providers.llm.facts import Capabilities
from providers.llm.messages import File, Text, UserMessage
from providers.pictures import fit_files
from providers.stream import call
from tests.providers.llm.exchange import PDF, a_model, a_request

NOISE = random.Random(1).randbytes(1500 * 1500 * 3)


def written(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def file_of(data: bytes, mime: str = "image/png") -> File:
    return File(mime, f"data:{mime};base64,{base64.b64encode(data).decode()}", "a", "key")


def opened(file: File) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(file.base64)))


LARGE = file_of(written(Image.new("RGB", (9_000, 40), "red")))
HEAVY = file_of(written(Image.frombytes("RGB", (1500, 1500), NOISE)))
MOVING = file_of(
    written(
        Image.new("RGB", (20, 20), "red"),
        "GIF",
        save_all=True,
        append_images=[Image.new("RGB", (20, 20), "blue")],
    ),
    "image/gif",
)
WEBP = file_of(written(Image.new("RGB", (20, 20), "red"), "WEBP"), "image/webp")


@dataclass(frozen=True)
class Vendor(httpx.AsyncBaseTransport):
    """What one takes, and what it says to the rest."""

    npm: str
    model: str
    edge_px: int
    base64_bytes: int
    mimes: str
    too_large: str
    too_heavy: str
    wrong_kind: str

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        for mime, data in _pictures(json.loads(await request.aread())):
            if wrong := self._wrong(mime, data):
                return httpx.Response(400, json={"error": {"message": wrong}, "message": wrong})
        return httpx.Response(200, text="data: [DONE]\n\n")

    def _wrong(self, mime: str, data: str) -> str:
        image = Image.open(io.BytesIO(base64.b64decode(data)))
        if mime not in self.mimes.split() or getattr(image, "is_animated", False):
            return self.wrong_kind
        if max(image.size) > self.edge_px:
            return self.too_large
        return self.too_heavy if len(data) > self.base64_bytes else ""


def _pictures(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for item in node:
            yield from _pictures(item)
    elif isinstance(node, dict):
        if "media_type" in node and node["media_type"].startswith("image/"):
            yield node["media_type"].removeprefix("image/"), node["data"]
        elif "mimeType" in node:
            yield node["mimeType"].removeprefix("image/"), node["data"]
        elif "format" in node and "source" in node:
            yield node["format"], node["source"]["bytes"]
        for item in node.values():
            yield from _pictures(item)
    elif isinstance(node, str) and node.startswith("data:image/"):
        head, _, data = node.partition(",")
        yield head.removeprefix("data:image/").removesuffix(";base64"), data


ALL = "png jpeg webp gif"
# The vendors' own limits and words, where they have some.
VENDORS = [
    Vendor(
        "@ai-sdk/anthropic", "claude-sonnet-4-5", 2_000, 5_242_880, ALL,
        "At least one of the image dimensions exceed max allowed size for many-image requests: "
        "2000 pixels",
        "image exceeds 5 MB maximum", "Could not process image",
    ),
    Vendor(
        "@ai-sdk/amazon-bedrock", "us.anthropic.claude-sonnet-4-5-v1:0", 8_000, 5_242_880, ALL,
        "image dimensions exceed max allowed size: 8000 pixels", "image exceeds 5 MB maximum",
        "Could not process image",
    ),
    Vendor(
        "@ai-sdk/openai", "gpt-4.1", 100_000, 50_000_000, ALL, "", "image_file_too_large",
        "You uploaded an unsupported image.",
    ),
    Vendor(
        "@ai-sdk/google", "gemini-2.5-pro", 100_000, 20_000_000, "png jpeg webp heic", "",
        "Request payload size exceeds the limit: 20971520 bytes.",
        "Unsupported MIME type: image/gif",
    ),
    Vendor(
        "@ai-sdk/groq", "llama-4-scout", 5_700, 4_000_000, ALL, "image too large",
        "Request body too large", "invalid image data",
    ),
    Vendor(
        "@ai-sdk/xai", "grok-4", 100_000, 27_000_000, "png jpeg", "", "", "Unsupported image",
    ),
    Vendor(
        "@ai-sdk/mistral", "pixtral-large", 10_000, 13_000_000, ALL, "", "",
        "Image content cannot be loaded",
    ),
]  # fmt: skip


def asked(vendor: Vendor, *files: File, **fields: Any) -> Any:
    options: Any = {"base_url": "https://models.example.com/v1", **fields}
    if "bedrock" in vendor.npm:
        options["connection"] = {"region": "us-east-1"}
    made = a_model(vendor.npm, vendor.model, "own", **options)
    return a_request(made, UserMessage((Text("Look"), *files)))


async def played(request: Any, vendor: Vendor) -> list[StreamEvent]:
    return [event async for event in call(request, vendor)]


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.npm)
async def test_each_vendor_gets_pictures_that_it_takes(vendor: Vendor) -> None:
    for file in (LARGE, HEAVY, MOVING, WEBP):
        events = await played(asked(vendor, file), vendor)
        for event in events:
            assert not (isinstance(event, Failed) and isinstance(event.error, RefusedFiles)), event


@pytest.mark.parametrize("vendor", VENDORS[:1], ids=lambda vendor: vendor.npm)
async def test_these_vendors_refuse_what_is_not_fitted(vendor: Vendor) -> None:
    for file in (LARGE, HEAVY, MOVING):
        events = [event async for event in llm.stream(asked(vendor, file), vendor)]
        assert isinstance(events[-1], Failed)
        assert isinstance(events[-1].error, RefusedFiles)


async def test_what_fits_is_the_same_request() -> None:
    request = asked(VENDORS[0], file_of(written(Image.new("RGB", (2_000, 1_000)))), PDF)
    assert await fit_files(request) is request


async def test_a_photograph_stands_upright_and_keeps_its_name() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = written(Image.new("RGB", (40, 20), "red"), "JPEG", exif=exif)
    [file] = (await fit_files(asked(VENDORS[0], file_of(data, "image/jpeg")))).files
    assert opened(file).size == (20, 40)
    assert (file.name, file.key) == ("a", "key")


async def test_a_picture_becomes_the_same_bytes_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = await fit_files(asked(VENDORS[0], LARGE, HEAVY))
    again = await fit_files(asked(VENDORS[0], LARGE, HEAVY))
    monkeypatch.setattr(pictures, "_fitted", pictures._Fitted())
    anew = await fit_files(asked(VENDORS[0], LARGE, HEAVY, MOVING))
    assert first == again
    assert list(anew.files)[:2] == list(first.files)


async def test_what_was_made_of_pictures_takes_up_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MAX_CHARS", 3_000)
    kept = pictures._Fitted()
    monkeypatch.setattr(pictures, "_fitted", kept)
    for colour in range(40):
        file = file_of(written(Image.new("RGB", (2_100, 30), (colour, 0, 0))))
        await fit_files(asked(VENDORS[0], file))
    assert 0 < kept._chars <= 3_000
    assert sum(len(url) for _, url in kept._known.values()) == kept._chars


async def test_one_that_cannot_be_read_is_not_sent() -> None:
    broken = file_of(written(Image.new("RGB", (9, 9)))[:45])
    with pytest.raises(RefusedFiles) as failed:
        await fit_files(asked(VENDORS[0], LARGE, broken))
    assert failed.value.files == (broken,)


async def test_pictures_for_a_model_that_reads_none_are_left_alone() -> None:
    request = asked(VENDORS[0], file_of(b"png"))
    text_only = replace(request.model, capabilities=Capabilities(input=frozenset({"text"})))
    request = replace(request, model=text_only)
    assert await fit_files(request) is request


def test_a_turn_of_text_loads_no_decoder() -> None:
    code = (
        "import sys, asyncio, django; from django.conf import settings; "
        "settings.configure(); django.setup(); import providers.pictures as p; "
        "from tests.providers.llm.exchange import a_model, a_request; "
        "asyncio.run(p.fit_files(a_request(a_model('@ai-sdk/openai', 'm', 'x'), 'Hi'))); "
        "sys.exit('PIL' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
