from __future__ import annotations

import base64
import io
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from opencode_web.lib.pictures import MAX_PIXELS, ImageLimits
from tests.fakes import FakeToolContext
from tools.base import Attachment
from tools.settlement import fit_pictures

LIMITS = ImageLimits(max_width=100, max_height=80, max_base64_bytes=20_000)


def written(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def attach(data: bytes, mime: str = "image/png") -> Attachment:
    return Attachment(mime, f"data:{mime};base64,{base64.b64encode(data).decode()}", "a")


def opened(file: Attachment) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(file.url.partition(",")[2])))


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(1).randbytes(width * height * 3))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_fits_is_left_as_it_is(kind: str) -> None:
    file = attach(written(Image.new("RGB", (100, 80), "red"), kind), f"image/{kind.lower()}")
    assert fit_pictures((file,), LIMITS) == ((file,), 0)


def test_a_large_one_is_made_smaller_in_its_shape(subtests: pytest.Subtests) -> None:
    for size in [(101, 10), (10, 81), (500, 400)]:
        for kind in ["PNG", "JPEG", "GIF", "WEBP"]:
            with subtests.test(kind=kind, size=size):
                file = attach(written(Image.new("RGB", size, "red"), kind), f"image/{kind.lower()}")
                ((fitted,), left_out) = fit_pictures((file,), LIMITS)
                image = opened(fitted)
                assert left_out == 0
                assert image.width <= 100
                assert image.height <= 80
                assert abs(image.width / image.height - size[0] / size[1]) < 1.5
                assert fitted.mime == ("image/jpeg" if kind == "JPEG" else "image/png")
                assert fitted.filename == "a"


def test_a_heavy_one_becomes_a_jpeg_of_less_quality_and_size() -> None:
    ((fitted,), _) = fit_pictures((attach(written(noise(100, 80), "PNG")),), LIMITS)
    assert fitted.mime == "image/jpeg"
    assert opened(fitted).size == (100, 80)
    tiny = ImageLimits(max_base64_bytes=1_500)
    ((fitted,), _) = fit_pictures((attach(written(noise(300, 300), "PNG")),), tiny)
    assert len(fitted.url.partition(",")[2]) <= 1_500
    assert opened(fitted).width < 300


def test_one_that_cannot_be_made_small_enough_is_left_out() -> None:
    limits = ImageLimits(max_base64_bytes=10)
    assert fit_pictures((attach(written(noise(9, 9), "PNG")),), limits) == ((), 1)


def test_without_resizing_a_large_one_is_left_out() -> None:
    limits = ImageLimits(auto_resize=False, max_width=5)
    assert fit_pictures((attach(written(noise(9, 9), "PNG")),), limits) == ((), 1)


def test_transparency_survives_or_becomes_white() -> None:
    clear = Image.new("RGBA", (200, 200), (255, 0, 0, 0))
    ((fitted,), _) = fit_pictures((attach(written(clear, "PNG")),), LIMITS)
    assert opened(fitted).convert("RGBA").getpixel((0, 0))[3] == 0  # type: ignore[index]


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_what_a_camera_wrote_is_taken_off_and_the_picture_stands_upright(kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "at home"
    data = written(Image.new("RGB", (40, 20), "red"), kind, exif=exif)
    assert b"at home" in data
    ((fitted,), _) = fit_pictures((attach(data, f"image/{kind.lower()}"),), LIMITS)
    assert b"at home" not in base64.b64decode(fitted.url.partition(",")[2])
    assert opened(fitted).size == (20, 40)


def bomb(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(name + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + name + data + crc

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


PNG = written(Image.new("RGB", (9, 9)), "PNG")


def test_broken_pictures_and_bombs_are_left_out(subtests: pytest.Subtests) -> None:
    cases = [
        b"",
        b"\x89PNG\r\n\x1a\n",
        PNG[:40],
        written(noise(30, 30), "PNG")[:-300],
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 999,
        bomb(MAX_PIXELS // 1_000 + 1, 1_000),
        bomb(100_000, 100_000),
        bomb(2**31 - 1, 2**31 - 1),
        bomb(0, 5),
        written(Image.new("RGB", (9, 9)), "BMP"),
        b"GIF89a" + b"\0" * 50,
    ]
    for data in cases:
        with subtests.test(data=data):
            assert fit_pictures((attach(data),), LIMITS) == ((), 1)


def test_other_files_pass() -> None:
    file = attach(b"%PDF-", "application/pdf")
    assert fit_pictures((file,), LIMITS) == ((file,), 0)


@pytest.mark.parametrize("url", ["data:image/png;base64,???", "data:image/png,x", "x"])
def test_an_attachment_without_data_is_left_out(url: str) -> None:
    assert fit_pictures((Attachment("image/png", url),), LIMITS) == ((), 1)


async def test_the_model_is_told_what_was_left_out(
    context: FakeToolContext, worktree: Path
) -> None:
    (worktree / "a.png").write_bytes(PNG[:40])
    result = await context.call("read", filePath="a.png")
    assert result.attachments == ()
    assert result.output == (
        "Image read successfully\n\n"
        "[1 image(s) omitted: could not be resized below the image size limit.]"
    )


def test_a_start_loads_no_decoder() -> None:
    code = "import sys, tools.settlement; sys.exit('PIL.Image' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
