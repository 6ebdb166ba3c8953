from __future__ import annotations

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from teams.actions.audit import prune_entries, sign_chain
from teams.audit import AuditAction, record
from teams.audit_chain.heads import own_public_keys
from teams.audit_chain.verify import missing_triggers, verify_chain
from teams.models import AuditEntry, AuditHead, SignedHead, Team, User

# What is written is linked when its transaction commits.
pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "teams_auditentry"


@pytest.fixture
def chain(alice: User, team: Team) -> str:
    for name in ("a", "b", "c", "d"):
        record(
            AuditAction.SKILL_SAVED,
            actor=alice,
            team=team,
            data={"name": name, "user": "bob@example.com"},
        )
    return team.pk


def run_sql(*statements: str) -> None:
    """As somebody who may do everything in the database."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            for statement in statements:
                cursor.execute(statement)
            cursor.execute("SET session_replication_role = origin")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        for statement in (*statements, *(sql for _, sql in triggers)):
            cursor.execute(statement)


def verify(*arguments: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("audit", "verify", *arguments, stdout=out, stderr=err)
    except CommandError as exc:
        return exc.returncode, err.getvalue() + str(exc)
    return 0, out.getvalue()


def entry_id(chain: str, seq: int) -> int:
    return AuditEntry.objects.get(team=chain, seq=seq).pk


def test_entries_are_links_of_a_chain(chain: str, alice: User) -> None:
    rows = list(AuditEntry.objects.filter(team=chain).order_by("seq"))
    assert [row.seq for row in rows] == [*range(1, len(rows) + 1)]
    assert [row.prev_hash for row in rows] == ["", *(row.hash for row in rows[:-1])]
    head = AuditHead.objects.get(pk=chain)
    assert (head.seq, head.hash) == (rows[-1].seq, rows[-1].hash)
    record(AuditAction.USER_RENAMED, actor=alice, team=None, data={"name": "A"})
    report = verify_chain("-")
    assert (report.problem, report.entries > 0) == ("", True)
    assert verify()[0] == 0
    assert missing_triggers() == []


def test_the_database_refuses_changes(chain: str) -> None:
    sign_chain(chain)
    one = entry_id(chain, 2)
    statements = [
        f"UPDATE {ENTRIES} SET action = 'x' WHERE id = {one}",
        f"UPDATE {ENTRIES} SET seq = NULL WHERE id = {one}",
        f"UPDATE {ENTRIES} SET actor_email = 'eve@example.com' WHERE id = {one}",
        f"UPDATE {ENTRIES} SET salt = '', target_id = 'x' WHERE id = {one}",
        f"DELETE FROM {ENTRIES} WHERE id = {one}",
        f"DELETE FROM {ENTRIES}",
        "UPDATE teams_signedhead SET seq = 1",
        "DELETE FROM teams_signedhead",
    ]
    if connection.vendor == "postgresql":
        statements += [f"TRUNCATE {ENTRIES}", "TRUNCATE teams_signedhead"]
    for statement in statements:
        with (
            pytest.raises(DatabaseError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    assert verify()[0] == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (f"UPDATE {ENTRIES} SET action = 'skill.deleted' WHERE id = {{3}}", "entry 3 .* changed"),
        (f"UPDATE {ENTRIES} SET actor_email = 'eve@x.org' WHERE id = {{3}}", "entry 3 .* changed"),
        (
            f"UPDATE {ENTRIES} SET actor_email = 'eve', salt = '' WHERE id = {{3}}",
            "entry 3 .* changed",
        ),
        (f"UPDATE {ENTRIES} SET client = 'x', salt = '' WHERE id = {{3}}", "entry 3 .* changed"),
        (f"UPDATE {ENTRIES} SET digest = prev_hash WHERE id = {{3}}", "entry 3 .* changed"),
        (f"DELETE FROM {ENTRIES} WHERE id = {{3}}", "entry 3 is missing: entry 4 "),
        (f"DELETE FROM {ENTRIES} WHERE id = {{last}}", "the head is at entry"),
        ("UPDATE teams_audithead SET seq = seq - 1", "the head is at entry|comes after the head"),
        (f"UPDATE {ENTRIES} SET seq = NULL WHERE id = {{last}}", "the head is at entry"),
    ],
)
def test_verify_names_the_first_wrong_entry(chain: str, damage: str, said: str) -> None:
    ids = {seq: pk for pk, seq in AuditEntry.objects.filter(team=chain).values_list("pk", "seq")}
    last = ids[max(ids)]
    run_sql(damage.replace("{3}", str(ids[3])).replace("{last}", str(last)))
    code, text = verify("--team", chain)
    assert code == 1
    assert re.search(said, text), text


def test_reordered_and_inserted_entries_are_found(chain: str) -> None:
    three, four = entry_id(chain, 3), entry_id(chain, 4)
    run_sql(
        f"UPDATE {ENTRIES} SET seq = 99 WHERE id = {three}",
        f"UPDATE {ENTRIES} SET seq = 3 WHERE id = {four}",
        f"UPDATE {ENTRIES} SET seq = 4 WHERE id = {three}",
    )
    assert "entry 3 " in verify("--team", chain)[1]


def test_a_chain_that_was_written_anew_contradicts_its_signed_head(chain: str, alice: User) -> None:
    sign_chain(chain)
    last = AuditHead.objects.get(pk=chain).seq
    before = AuditEntry.objects.get(team=chain, seq=last - 1)
    # All that is in the database fits together afterwards.
    run_sql(
        f"DELETE FROM {ENTRIES} WHERE id = {entry_id(chain, last)}",
        f"UPDATE teams_audithead SET seq = {last - 1}, hash = '{before.hash}' "
        f"WHERE chain = '{chain}'",
    )
    assert f"entries {last} to {last} are missing" in verify("--team", chain)[1]
    record(AuditAction.SKILL_DELETED, actor=alice, team=Team.objects.get(pk=chain))
    assert "is not the one that was signed" in verify("--team", chain)[1]
    run_sql("UPDATE teams_signedhead SET hash = prev FROM (SELECT '' AS prev) AS x")
    assert "the signature of the head" in verify("--team", chain)[1]


def test_old_entries_go_and_the_rest_verifies(chain: str, alice: User) -> None:
    cut = timezone.now()
    record(AuditAction.SKILL_DELETED, actor=alice, team=Team.objects.get(pk=chain))
    removed = prune_entries(chain, before=cut)
    assert removed >= 4
    left = AuditEntry.objects.filter(team=chain).order_by("seq")
    assert [row.action for row in left] == ["skill.deleted", "audit.pruned"]
    assert left[0].seq == removed + 1
    assert SignedHead.objects.get(chain=chain).is_checkpoint
    assert verify("--team", chain)[0] == 0
    # Nothing but the checkpoint lets the database remove them.
    run_sql(f"UPDATE {ENTRIES} SET action = 'x' WHERE id = {left[0].pk}")
    with pytest.raises(Exception, match="was changed"):
        prune_entries(chain, before=timezone.now() + timedelta(days=1))
    assert left.count() == 2


def test_a_person_is_replaced_by_a_pseudonym_and_the_chain_holds(chain: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {ENTRIES} SET actor_email = 'person-7', names = '{{}}', ip = NULL, "
            "client = '', salt = '' WHERE actor_email = 'alice@example.com'"
        )
    code, text = verify("--team", chain)
    assert code == 0
    assert "with erased names" in text
    assert "bob@example.com" not in str(list(AuditEntry.objects.values_list("names", "data")))


def test_others_can_check_an_export(chain: str) -> None:
    sign_chain(chain)
    out = io.StringIO()
    call_command("audit", "export", "--team", chain, "--after", "2", stdout=out)
    *entries, head = map(json.loads, out.getvalue().splitlines())
    assert [line["seq"] for line in entries] == [*range(3, head["seq"] + 1)]
    assert head["hash"] == entries[-1]["hash"]
    keys = io.StringIO()
    call_command("audit", "key", stdout=keys)
    assert keys.getvalue().split() == own_public_keys() == [head["public_key"]]
    signed = f"audit-head:{chain}:{head['seq']}:{head['hash']}:{head['time']}:0"
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(head["public_key"]))
    key.verify(bytes.fromhex(head["signature"]), signed.encode())


def test_a_lost_trigger_is_told(chain: str) -> None:
    name, other = "teams_audit_link", "teams_membership"
    ways = [
        [f"DROP TRIGGER {name}"],
        # One of the same name that does nothing.
        [
            f"DROP TRIGGER {name}",
            f"CREATE TRIGGER {name} AFTER DELETE ON {other} BEGIN SELECT 1; END",
        ],
    ]
    if connection.vendor == "postgresql":
        like = "AFTER DELETE ON teams_membership EXECUTE FUNCTION teams_audit_refuse()"
        ways = [
            [f"DROP TRIGGER {name} ON {ENTRIES}"],
            [f"DROP TRIGGER {name} ON {ENTRIES}", f"CREATE TRIGGER {name} {like}"],
            [f"ALTER TABLE {ENTRIES} DISABLE TRIGGER {name}"],
            [f"ALTER TABLE {ENTRIES} ENABLE REPLICA TRIGGER {name}"],
        ]
    run_sql(f"UPDATE {ENTRIES} SET action = 'x' WHERE id = {entry_id(chain, 2)}")
    for way in ways:
        with transaction.atomic():
            with connection.cursor() as cursor:
                for statement in way:
                    cursor.execute(statement)
            assert (missing_triggers(), way) == ([name], way)
            code, text = verify("--team", chain)
            assert (code, name in text, "entry 2 " in text) == (1, True, True)
            transaction.set_rollback(True)


def test_concurrent_transactions_are_put_in_order(team: Team, alice: User) -> None:
    def write(count: int) -> None:
        for _ in range(count):
            with transaction.atomic():
                record(AuditAction.SKILL_SAVED, actor=alice, team=team)
                record(AuditAction.USER_RENAMED, actor=alice, team=None)
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [10] * 4))
    reports = [verify_chain(chain) for chain in (team.pk, "-")]
    assert [report.problem for report in reports] == ["", ""]
    assert all(report.entries >= 40 for report in reports)
