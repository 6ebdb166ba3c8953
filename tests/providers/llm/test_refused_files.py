from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from providers.llm.errors import (
    BadRequest,
    ContentFiltered,
    OverflowError_,
    ProviderError,
    RateLimited,
    RefusedFiles,
)
from providers.llm.messages import (
    AssistantMessage,
    File,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.providers.llm.exchange import PDF, PICTURE, a_model, a_request, ask

OTHER = File("image/png", "data:image/png;base64,b3RoZXI=", "other.png")
PAIR = UserMessage((Text("Look"), PICTURE, OTHER, PDF))
GPT = a_model("@ai-sdk/openai", "gpt-5.2", "openai")
CLAUDE = a_model("@ai-sdk/anthropic", "claude-sonnet-4-5", "anthropic")


async def refused(
    message: str, *said: Any, model: Any = CLAUDE, status: int = 400, **error: Any
) -> ProviderError:
    body = {"error": {"type": "invalid_request_error", "message": message, **error}}
    server = httpx.MockTransport(lambda _: httpx.Response(status, json=body))
    return (await ask(a_request(model, *said), server)).failed.error


async def test_what_vendors_say_about_files_is_understood(subtests: pytest.Subtests) -> None:
    cases = [
        ("Could not process image", 400, (PICTURE, OTHER)),
        ("image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes", 400, (PICTURE, OTHER)),
        ("At least one of the image dimensions exceed max allowed size: 8000 pixels", 400, 2),
        ("The image was specified using the image/png media type, but it is a GIF", 400, 2),
        ("The PDF specified is password protected.", 400, (PDF,)),
        ("A maximum of 100 PDF pages may be provided.", 400, (PDF,)),
        ("Too much media: 0 document pages + 101 images > 100", 400, 3),
        ("The image data you provided does not represent a valid image.", 400, 2),
        ("Invalid MIME type. Only image types are supported.", 400, 2),
        ("Provided image is not valid.", 400, 2),
        ("Unsupported MIME type: image/gif", 400, 3),
        ("Request payload size exceeds the limit: 20971520 bytes.", 400, 3),
        ("The document contains 1200 pages which exceeds the supported page limit", 400, (PDF,)),
        ("Too many images provided. This model supports up to 5 images", 400, 2),
        ("No endpoints found that support image input", 404, 2),
        ("image input is not supported - hint: you may need to provide the mmproj", 500, 2),
        ("At most 1 image(s) may be provided in one prompt.", 400, 2),
        ("Failed to parse the PDF document", 422, (PDF,)),
        ("image size exceeds the limit of 3145728 bytes", 400, 2),
        ("Failed to load image: unexpected end of file", 500, 2),
        ("Invalid base64 in the request", 400, 3),
    ]
    for message, status, files in cases:
        with subtests.test(message=message):
            error = await refused(message, PAIR, status=status)
            assert isinstance(error, RefusedFiles)
            assert error.message == message
            assert (len(error.files) if isinstance(files, int) else error.files) == files
            assert error.is_certain is (len(error.files) == 1)


@pytest.mark.parametrize(
    "code", ["invalid_image_format", "image_parse_error", "image_content_policy_violation"]
)
async def test_an_error_in_a_stream_that_has_begun_is_understood(code: str) -> None:
    error = {"code": code, "message": "It failed."}
    frame = {"type": "response.failed", "response": {"status": "failed", "error": error}}
    answer = f"data: {json.dumps(frame)}\n\n"
    server = httpx.MockTransport(lambda _: httpx.Response(200, text=answer))
    found = (await ask(a_request(GPT, PAIR), server)).failed.error
    assert isinstance(found, RefusedFiles)
    assert found.files == (PICTURE, OTHER)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (CLAUDE, "messages.0.content.2.image.source.base64.data"),
        (GPT, "input[1].content[2].image_url"),
        (a_model("@ai-sdk/google", "gemini-3-pro", "google"), "contents[0].parts[2].inline_data"),
        (a_model("@openrouter/ai-sdk-provider", "qwen/qwen3-vl", "o"), "messages.1.content.2"),
    ],
)
async def test_the_file_at_the_place_that_is_named_is_found(model: Any, place: str) -> None:
    error = await refused(f"{place}: Could not process image", PAIR, model=model)
    assert isinstance(error, RefusedFiles)
    assert (error.files, error.is_certain) == ((OTHER,), True)


async def test_a_file_inside_the_result_of_a_tool_is_found() -> None:
    call = AssistantMessage((ToolCall("toolu_1", "read", {}),))
    result = ToolResultMessage("toolu_1", "read", "See", files=(PICTURE, OTHER))
    place = "messages.2.content.0.tool_result.content.2.image.source.base64"
    error = await refused(f"{place}: invalid base64 data", "Look", call, result)
    assert isinstance(error, RefusedFiles)
    assert error.files == (OTHER,)


async def test_a_file_is_found_by_its_name_where_no_place_is_said() -> None:
    error = await refused("Unable to process other.png: unsupported image", PAIR)
    assert isinstance(error, RefusedFiles)
    assert (error.files, error.is_certain) == ((OTHER,), True)


@pytest.mark.parametrize(
    ("message", "status", "kind"),
    [
        ("tools.0.input_schema: Field required", 400, BadRequest),
        ("prompt is too long: 9 tokens > 8 maximum", 400, OverflowError_),
        ("Too many images, please wait", 429, RateLimited),
        ("max_tokens: Input should be greater than 0", 400, BadRequest),
    ],
)
async def test_what_is_not_about_files_stays_what_it_is(
    message: str, status: int, kind: type[ProviderError]
) -> None:
    error = await refused(message, PAIR, status=status)
    assert type(error) is kind


@pytest.mark.parametrize(("size", "kind"), [(9_000, RefusedFiles), (9, OverflowError_)])
async def test_a_body_that_is_too_large_is_the_fault_of_large_files(
    size: int, kind: type[ProviderError]
) -> None:
    large = File("image/png", "data:image/png;base64," + "A" * size)
    error = await refused("Request Entity Too Large", UserMessage((large,)), status=413)
    assert type(error) is kind


async def test_without_a_file_nothing_is_refused() -> None:
    assert type(await refused("Could not process image", "Hi")) is BadRequest
    code = {"code": "content_filter"}
    assert type(await refused("No.", PAIR, **code)) is ContentFiltered
