from __future__ import annotations

import json
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from opencode_web.lib.errors import Invalid
from opencode_web.lib.loop import submit
from sessions.actions.webhooks import create_webhook, delete_webhook, update_webhook
from sessions.jobs.audit_stream import send_audit
from sessions.models import AuditCursor, Project, Webhook
from teams.access import TeamAccess, access_team
from teams.audit import AuditAction, record
from teams.models import AuditEntry, AuditHead, Team, User
from tests.sessions.webhook_receiver import Receiver, receive

# What is written is linked when its transaction commits.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receive() as running:
        yield running


@pytest.fixture
def access(adam: User) -> TeamAccess:
    return access_team(adam, "acme")


def follow(access: TeamAccess, receiver: Receiver) -> Webhook:
    hook, _ = create_webhook(access, url=f"{receiver.address}/in", events=["audit.entry"])
    return hook


def save(team: Team, *names: str) -> None:
    for name in names:
        record(AuditAction.SKILL_SAVED, actor=None, team=team, data={"name": name})


def send() -> int:
    AuditCursor.objects.update(next_at=timezone.now())
    return submit(send_audit()).result(60)


def names_in(receiver: Receiver) -> list[str]:
    told = [json.loads(body)["data"] for _, body in receiver.got]
    return [one["data"]["name"] for one in told if one["action"] == "skill.saved"]


def test_new_entries_arrive_in_order_signed_and_once(
    access: TeamAccess, team: Team, receiver: Receiver
) -> None:
    save(team, "before")
    follow(access, receiver)
    save(team, "a", "b", "c")
    send()
    assert names_in(receiver) == ["a", "b", "c"]
    ids = [headers["webhook-id"] for headers, _ in receiver.got]
    seqs = [json.loads(body)["data"]["seq"] for _, body in receiver.got]
    assert ids == [f"aud_{team.pk}_{seq}" for seq in seqs]
    assert seqs == [*range(seqs[0], seqs[0] + len(seqs))]
    assert all(headers["webhook-signature"].startswith("v1,") for headers, _ in receiver.got)
    assert send() == 0


def test_nothing_is_skipped_while_the_receiver_fails(
    access: TeamAccess, team: Team, receiver: Receiver
) -> None:
    follow(access, receiver)
    save(team, "a")
    send()
    receiver.status = 500
    save(team, "b", "c")
    assert send() == 0
    cursor = AuditCursor.objects.get()
    assert (cursor.attempts, cursor.problem) == (1, "The server responded with status 500.")
    assert cursor.next_at > timezone.now()
    receiver.status = 204
    receiver.got.clear()
    send()
    assert names_in(receiver) == ["b", "c"]
    assert AuditCursor.objects.get().seq == AuditHead.objects.get(pk=team.pk).seq


def test_a_worker_that_died_with_its_claim_has_others_send_again(
    access: TeamAccess, team: Team, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(access, receiver)
    save(team, "a")
    with monkeypatch.context() as patch:

        def die(*_: Any, **__: Any) -> None:
            raise SystemError("killed")

        patch.setattr("sessions.jobs.audit_stream.settle_entries", die)
        with pytest.raises(SystemError):
            send()
    # Nobody else sends while it might still be alive.
    assert submit(send_audit()).result(60) == 0
    receiver.got.clear()
    send()
    assert names_in(receiver) == ["a"]


def test_one_that_is_switched_off_and_on_misses_nothing(
    access: TeamAccess, team: Team, receiver: Receiver
) -> None:
    hook = follow(access, receiver)
    send()
    update_webhook(access, hook, enabled=False)
    save(team, "while off")
    receiver.got.clear()
    assert send() == 0
    update_webhook(access, hook, enabled=True)
    send()
    assert names_in(receiver) == ["while off"]
    delete_webhook(access, hook)
    assert not AuditCursor.objects.exists()


def test_the_log_of_a_team_cannot_be_followed_for_one_project(
    access: TeamAccess, project: Project
) -> None:
    with pytest.raises(Invalid, match="whole team"):
        create_webhook(access, url="http://127.0.0.1/", events=["audit.entry"], project=project)
    assert not AuditEntry.objects.filter(action="webhook.created").exists()


@pytest.fixture
def syslog() -> Iterator[tuple[str, list[bytes]]]:
    got: list[bytes] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while length := self._length():
                got.append(self.rfile.read(length))

        def _length(self) -> int:
            digits = b""
            while (byte := self.rfile.read(1)).isdigit():
                digits += byte
            return int(digits or 0)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"syslog://127.0.0.1:{server.server_address[1]}", got
        server.shutdown()


def test_every_chain_goes_to_the_syslog_server_of_the_operators(
    team: Team, alice: User, syslog: tuple[str, list[bytes]], settings: Any
) -> None:
    settings.AUDIT_STREAM_URL, got = syslog
    save(team, "Tür\n<1>")
    record(AuditAction.USER_RENAMED, actor=alice, team=None, data={"name": "A"})
    sent = send()
    assert sent == AuditEntry.objects.count() >= 2
    for _ in range(100):
        if len(got) == sent:
            break
        threading.Event().wait(0.02)
    form = rb"<110>1 \d{4}-[\dT:.-]+Z \S+ opencode-web - (\S+) \[audit@32473 chain=\"(\S+)\" "
    form += rb"seq=\"(\d+)\"\] (\{[ -~]+\})"
    found = [re.fullmatch(form, message) for message in got]
    assert all(found)
    told = [json.loads(one[4]) for one in found if one]
    assert {line["chain"] for line in told} == {team.pk, "-"}
    seqs = [line["seq"] for line in told if line["chain"] == team.pk]
    assert seqs == sorted(seqs)
    assert send() == 0


def test_a_syslog_server_that_is_away_gets_everything_later(
    team: Team, syslog: tuple[str, list[bytes]], settings: Any
) -> None:
    settings.AUDIT_STREAM_URL = "syslog://127.0.0.1:1"
    save(team, "a")
    assert send() == 0
    assert "could not be reached" in AuditCursor.objects.get(chain=team.pk).problem
    settings.AUDIT_STREAM_URL = syslog[0]
    assert send() == AuditEntry.objects.count()


def test_entries_that_a_syslog_server_has_not_read_are_sent_again(
    team: Team, syslog: tuple[str, list[bytes]], settings: Any
) -> None:
    save(team, "a")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings.AUDIT_STREAM_URL = f"syslog://127.0.0.1:{listener.getsockname()[1]}"

        def take_and_end() -> None:
            # What nobody has read is thrown away with the connection.
            taken, _address = listener.accept()
            assert taken.recv(1)
            taken.close()

        thread = threading.Thread(target=take_and_end)
        thread.start()
        assert send() == 0
        thread.join()
    assert "could not be reached" in AuditCursor.objects.get(chain=team.pk).problem
    settings.AUDIT_STREAM_URL = syslog[0]
    assert send() == AuditEntry.objects.count()


def test_entries_over_udp_wait_for_a_receiver_and_leave_out_what_does_not_fit(
    team: Team, settings: Any
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        port = receiver.getsockname()[1]
    settings.AUDIT_STREAM_URL = f"syslog+udp://127.0.0.1:{port}"
    record(AuditAction.CONFIG_CHANGED, actor=None, team=team, data={"long": "x" * 70_000})
    assert send() == 0
    assert "refused" in AuditCursor.objects.get(chain=team.pk).problem
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", port))
        receiver.settimeout(5)
        assert send() == AuditEntry.objects.count()
        got = [receiver.recv(65_536) for _ in range(AuditEntry.objects.count())]
    lines = [json.loads(one.split(b"] ", 1)[1]) for one in got]
    assert [line["data"] for line in lines][-1] == {"left_out": True}
    assert [line["seq"] for line in lines] == [*range(1, len(lines) + 1)]
