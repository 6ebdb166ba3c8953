"""Check a chain, and name the first entry that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import connection
from django.db.models import QuerySet

from teams.audit_chain.hashes import digest_of, hash_personal, is_erased, link_hash
from teams.audit_chain.heads import is_signed_by, known_public_keys
from teams.models import SERVER_CHAIN, AuditEntry, AuditHead, SignedHead

TRIGGERS = {
    "postgresql": frozenset(
        {
            *("teams_audit_link", "teams_audit_keep", "teams_audit_truncate"),
            *("teams_signed_head_keep", "teams_signed_head_truncate"),
        }
    ),
    "sqlite": frozenset(
        {
            *("teams_audit_link", "teams_audit_keep_changed", "teams_audit_keep_removed"),
            *("teams_signed_head_keep_changed", "teams_signed_head_keep_removed"),
        }
    ),
}


@dataclass(frozen=True)
class Start:
    """Where a check begins: after this entry."""

    seq: int = 0
    hash: str = ""


@dataclass(frozen=True)
class Report:
    """`problem` is empty for a chain in which everything is right. `seq` and `hash` are its end.

    `erased` counts entries whose personal fields were replaced, which nothing can check.
    """

    chain: str
    seq: int
    hash: str
    entries: int
    erased: int
    problem: str = ""


class _Broken(Exception):
    pass


def chains() -> list[str]:
    """Returns: the names of all chains, the server's first."""
    entries = AuditEntry.objects.order_by().values_list("team_id", flat=True).distinct()
    found = {SERVER_CHAIN, *(team or SERVER_CHAIN for team in entries)}
    found.update(AuditHead.objects.values_list("chain", flat=True))
    found.update(SignedHead.objects.order_by().values_list("chain", flat=True).distinct())
    return sorted(found, key=lambda chain: (chain != SERVER_CHAIN, chain))


def entries_of(chain: str) -> QuerySet[AuditEntry]:
    """Returns: the entries of a chain, in no order."""
    return AuditEntry.objects.filter(team=None if chain == SERVER_CHAIN else chain)


def verify_chain(
    chain: str, *, public_keys: Iterable[str] = (), recent_only: bool = False
) -> Report:
    """Check all entries, or those after the last signed head.

    `public_keys` are former ones of the server that it has forgotten.
    """
    keys = {*known_public_keys(), *public_keys}
    checked = _Check(chain, keys)
    try:
        checked.run(recent_only=recent_only)
    except _Broken as exc:
        return checked.report(str(exc))
    return checked.report()


class _Check:
    def __init__(self, chain: str, keys: set[str]) -> None:
        self.chain, self._keys = chain, keys
        self._at = Start()
        self._entries = self._erased = 0

    def report(self, problem: str = "") -> Report:
        at = self._at
        return Report(self.chain, at.seq, at.hash, self._entries, self._erased, problem)

    def run(self, *, recent_only: bool) -> None:
        # In this order: what is written while the check runs is in neither.
        head = AuditHead.objects.filter(pk=self.chain).first() or AuditHead(pk=self.chain)
        signed = list(SignedHead.objects.filter(chain=self.chain).order_by("seq", "pk"))
        for one in signed:
            if not is_signed_by(one, self._keys):
                raise _Broken(
                    f"the signature of the head at entry {one.seq} of {one.time:%Y-%m-%d} is wrong "
                    f"or of a key that this server does not know ({one.public_key})"
                )
        checkpoint = next((one for one in reversed(signed) if one.is_checkpoint), None)
        begin = signed[-1] if recent_only and signed else checkpoint
        if begin is not None:
            self._at = Start(begin.seq, begin.hash)
            self._require(begin)
        self._check_entries(head.seq, {one.seq: one.hash for one in signed})
        self._check_end(head, signed)

    def _check_entries(self, until: int, signed: dict[int, str]) -> None:
        rows = entries_of(self.chain)
        for entry in _in_order(rows.filter(seq__gt=self._at.seq, seq__lte=until)):
            self._check_entry(entry)
            assert entry.seq is not None
            self._at = Start(entry.seq, entry.hash)
            self._entries += 1
            self._erased += is_erased(entry)
            if signed.get(entry.seq, entry.hash) != entry.hash:
                raise _Broken(f"{_name(entry)} is not the one that was signed")

    def _require(self, signed: SignedHead) -> None:
        rows = entries_of(self.chain).filter(seq=signed.seq)
        found = rows.values_list("hash", flat=True).first()
        if found != signed.hash and not (signed.is_checkpoint and found is None):
            raise _Broken(f"entry {signed.seq} is missing, or is not the one that was signed")

    def _check_entry(self, entry: AuditEntry) -> None:
        expected = self._at.seq + 1
        assert entry.seq is not None
        if entry.seq != expected:
            raise _Broken(f"entry {expected} is missing: {_name(entry)} follows {self._at.seq}")
        was_changed = (
            (not is_erased(entry) and hash_personal(entry) != entry.personal_hash)
            or digest_of(entry) != entry.digest
            or link_hash(self.chain, entry.seq, entry.prev_hash, entry.digest) != entry.hash
        )
        if was_changed:
            raise _Broken(f"{_name(entry)} was changed")
        if entry.prev_hash != self._at.hash:
            raise _Broken(
                f"{_name(entry)} does not follow entry {self._at.seq}: entries were inserted, "
                "removed or reordered here"
            )

    def _check_end(self, head: AuditHead, signed: list[SignedHead]) -> None:
        at = self._at
        if signed and signed[-1].seq > at.seq:
            raise _Broken(
                f"entries {at.seq + 1} to {signed[-1].seq} are missing, which were signed on "
                f"{signed[-1].time:%Y-%m-%d}"
            )
        if (head.seq, head.hash) != (at.seq, at.hash):
            raise _Broken(f"the head is at entry {head.seq}, but the last entry is {at.seq}")
        rows = entries_of(self.chain)
        later = rows.filter(seq__gt=at.seq).order_by("seq").first()
        unlinked = rows.filter(seq=None).order_by("pk").first()
        if unlinked is not None:
            raise _Broken(f"{_name(unlinked)} is not part of the chain")
        if later is not None and not _follows(self.chain, at):
            raise _Broken(f"{_name(later)} comes after the head")


def _follows(chain: str, at: Start) -> bool:
    """Whether the head has moved on since."""
    return AuditHead.objects.filter(pk=chain, seq__gt=at.seq).exists()


def _in_order(rows: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    return rows.order_by("seq").iterator(chunk_size=1000)


def _name(entry: AuditEntry) -> str:
    return f"entry {entry.seq} (ID {entry.pk}, {entry.time:%Y-%m-%d %H:%M:%S}, {entry.action})"


def missing_triggers() -> list[str]:
    """Returns: what the database has lost that keeps entries from being changed, by name."""
    expected = TRIGGERS[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(_TRIGGERS_SQL[connection.vendor])
        found = {row[0] for row in cursor.fetchall()}
    return sorted(expected - found)


_TRIGGERS_SQL = {
    # "R" is for replicas alone, which is as good as off.
    "postgresql": "SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A')"
    " AND tgrelid IN ('teams_auditentry'::regclass, 'teams_signedhead'::regclass)",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    " AND tbl_name IN ('teams_auditentry', 'teams_signedhead')",
}
