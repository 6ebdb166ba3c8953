from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import date, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from opencode_web.lib.days import start_of
from sessions.actions.audit_streams import sent_until
from teams.actions.audit import BrokenChain, prune_entries, sign_chain
from teams.audit_chain.export import entry_to_line, head_to_line
from teams.audit_chain.heads import own_public_keys
from teams.audit_chain.verify import Report, chains, entries_of, missing_triggers, verify_chain
from teams.models import SERVER_CHAIN, SignedHead, Team


class Command(BaseCommand):
    help = "Verify, sign, export or prune the audit trail."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        about = {
            "verify": "check every chain, and name the first entry that is wrong",
            "sign": "sign the chains now, as the server does once a day",
            "export": "write entries and signed heads as JSON lines",
            "prune": "remove entries before a day, and leave a checkpoint",
            "key": "print the public key that verifies signed heads",
        }
        parsers = {name: commands.add_parser(name, help=text) for name, text in about.items()}
        for name in ("verify", "sign", "export", "prune"):
            parsers[name].add_argument(
                "--team", help='slug or ID of a team, or "-" for the chain of the server'
            )
        parsers["verify"].add_argument(
            *("--public-key", "-k"),
            action="append",
            default=[],
            help="a former public key of this server, in hexadecimal digits",
        )
        parsers["export"].add_argument(
            "--after", type=int, default=0, help="only entries with a higher number"
        )
        parsers["prune"].add_argument("--before", type=date.fromisoformat, required=True)

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        if command == "key":
            self.stdout.write("\n".join(own_public_keys()))
            return
        chosen = _chosen(options["team"])
        match command:
            case "verify":
                self._verify(chosen, options["public_key"])
            case "sign":
                self._report([sign_chain(chain) for chain in chosen])
            case "export":
                self._export(chosen, options["after"])
            case "prune":
                self._prune(chosen, start_of(options["before"]))

    def _verify(self, chosen: list[str], public_keys: list[str]) -> None:
        lost = missing_triggers()
        # Before the chains, as a broken one ends the command: together they say how it was done.
        for name in lost:
            self.stderr.write(f"The trigger {name} of the database is missing or off.")
        self._report([verify_chain(chain, public_keys=public_keys) for chain in chosen])
        if lost:
            raise CommandError("The database does not protect the audit trail from changes.")

    def _report(self, reports: list[Report]) -> None:
        broken = [report for report in reports if report.problem]
        for report in reports:
            if report.problem:
                self.stderr.write(f"{_name(report.chain)}: {report.problem}.")
            else:
                erased = f", {report.erased} with erased names" if report.erased else ""
                text = f"{report.entries} entries checked, up to {report.seq}{erased}"
                self.stdout.write(f"{_name(report.chain)}: {text}. {report.hash}")
        if broken:
            raise CommandError(f"The audit trail is broken in {len(broken)} of {len(reports)}.")

    def _export(self, chosen: list[str], after: int) -> None:
        for chain in chosen:
            rows = entries_of(chain).filter(seq__gt=after).order_by("seq")
            for entry in rows.iterator(chunk_size=1000):
                self.stdout.write(json.dumps(entry_to_line(entry)))
            for head in SignedHead.objects.filter(chain=chain, seq__gt=after).order_by("pk"):
                self.stdout.write(json.dumps(head_to_line(head)))

    def _prune(self, chosen: list[str], before: datetime) -> None:
        for chain in chosen:
            try:
                # What a stream has not sent yet would be lost.
                removed = prune_entries(chain, before=before, until=sent_until(chain))
            except BrokenChain as exc:
                raise CommandError(f"{_name(chain)}: {exc}. Nothing was removed.") from exc
            self.stdout.write(f"{_name(chain)}: {removed} entries removed.")


def _chosen(asked: str | None) -> list[str]:
    if asked is None:
        return chains()
    if asked == SERVER_CHAIN:
        return [asked]
    team = Team.objects.filter(Q(slug=asked) | Q(pk=asked)).first()
    # A team that was deleted has its chain still.
    if team is None and asked not in chains():
        raise CommandError(f"There is no team {asked}.")
    return [team.pk if team else asked]


def _name(chain: str) -> str:
    if chain == SERVER_CHAIN:
        return "Server"
    team = Team.objects.filter(pk=chain).first()
    return f"Team {team.slug} ({chain})" if team else f"Deleted team {chain}"
