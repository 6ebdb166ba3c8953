"""Put the entries that are there into the chains, some hundreds at a time.

It can be stopped and started again. What is hashed is written out here as it was then, see
`teams/audit_chain/hashes.py`.
"""

import hashlib
import json
import secrets
from datetime import UTC
from ipaddress import ip_address

from django.db import migrations, transaction

BATCH = 500
_PERSONAL = {"user", "email", "from", "to", "address", "user_agent", "account"}


def link_entries(apps, editor):
    """Also called by the next migration, for what was written meanwhile."""
    entries = apps.get_model("teams", "AuditEntry").objects
    heads = apps.get_model("teams", "AuditHead").objects
    services = set(
        apps.get_model("teams", "User")
        .objects.exclude(service_of=None)
        .values_list("pk", flat=True)
    )
    last = 0
    while True:
        with transaction.atomic(using=editor.connection.alias):
            rows = list(entries.filter(seq=None, pk__gt=last).order_by("pk")[:BATCH])
            for row in rows:
                _split(row, services)
                _link(row, heads)
                last = row.pk
            entries.bulk_update(rows, _FIELDS)
        if len(rows) < BATCH:
            return


_FIELDS = [
    "actor_kind",
    "data",
    "names",
    "salt",
    "personal_hash",
    "digest",
    "seq",
    "prev_hash",
    "hash",
]


def _split(row, services):
    if not row.actor_kind:
        kind = "service" if row.actor_id in services else "person"
        row.actor_kind = kind if row.actor_id else "server"
    personal = {key for key in row.data if key in _PERSONAL or row.action.startswith("user.")}
    row.names = {**row.names, **{key: row.data[key] for key in personal}}
    row.data = {key: value for key, value in row.data.items() if key not in personal}
    row.salt = row.salt or secrets.token_hex(16)
    row.personal_hash = _sha256(
        row.salt
        + _canonical(
            {
                "actor_email": row.actor_email,
                "client": row.client,
                "ip": str(ip_address(row.ip)) if row.ip else None,
                "names": row.names,
            }
        )
    )
    row.digest = _sha256(
        _canonical(
            {
                "version": 1,
                "time": row.time.astimezone(UTC).isoformat(timespec="microseconds"),
                "actor": row.actor_id,
                "actor_kind": row.actor_kind,
                "token": row.token,
                "team": row.team_id,
                "action": row.action,
                "target": [row.target_type, row.target_id],
                "data": row.data,
                "personal": row.personal_hash,
            }
        )
    )


def _link(row, heads):
    chain = row.team_id or "-"
    head, _ = heads.get_or_create(chain=chain)
    row.seq, row.prev_hash = head.seq + 1, head.hash
    row.hash = _sha256(f"{chain}:{row.seq}:{row.prev_hash}:{row.digest}")
    head.seq, head.hash = row.seq, row.hash
    head.save(update_fields=["seq", "hash"])


def _canonical(value):
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _join(apps, editor):
    entries = apps.get_model("teams", "AuditEntry").objects
    last = 0
    while rows := list(entries.filter(pk__gt=last).order_by("pk")[:BATCH]):
        for row in rows:
            row.data = {**row.data, **row.names}
            last = row.pk
        entries.bulk_update(rows, ["data"])


class Migration(migrations.Migration):
    # Each batch has a transaction of its own.
    atomic = False

    dependencies = [("teams", "0018_audit_chain")]

    operations = [migrations.RunPython(link_entries, _join)]
