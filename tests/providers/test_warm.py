from __future__ import annotations

import subprocess
import sys

from providers.litellm_client import library
from providers.warm import warm


def test_it_loads_everything_without_a_request() -> None:
    warm()  # the test's network guard refuses any connection
    assert library.cache_info().currsize == 1


def test_importing_the_stream_does_not_import_litellm() -> None:
    script = (
        "import django, sys; django.setup();"
        "import providers.stream, providers.urls, providers.resolve, providers.warm;"
        "sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
