#!/usr/bin/env python
from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__":
    # Collecting garbage while everything is imported costs a fifth of a start; OpencodeWebConfig
    # switches it on again.
    gc.disable()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
