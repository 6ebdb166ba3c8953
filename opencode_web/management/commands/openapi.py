from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand
from django.core.serializers.json import DjangoJSONEncoder

from opencode_web.api import openapi_document


class Command(BaseCommand):
    help = "Print the OpenAPI document of the API, as served at /doc."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        # Some keys are numbers, which cannot be sorted among texts.
        document = json.loads(DjangoJSONEncoder().encode(openapi_document()))
        self.stdout.write(json.dumps(document, indent=2, sort_keys=True))
