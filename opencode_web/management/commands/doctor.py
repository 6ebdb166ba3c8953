from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from opencode_web.diagnosis import Finding, diagnose


class Command(BaseCommand):
    help = "Check what works on this host. Exits with code 1 if something required does not work."
    # They are one of the findings.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = diagnose()
        failed = any(finding.required and not finding.ok for finding in findings)
        if options["json"]:
            rows = [asdict(finding) for finding in findings]
            self.stdout.write(json.dumps({"ok": not failed, "findings": rows}))
        else:
            width = max(len(finding.name) for finding in findings)
            for finding in findings:
                self.stdout.write(f"{_mark(finding):<8} {finding.name:<{width}} {finding.detail}")
        if failed:
            sys.exit(1)


def _mark(finding: Finding) -> str:
    if finding.ok:
        return "ok"
    return "FAILED" if finding.required else "limited"
