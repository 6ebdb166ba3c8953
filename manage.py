#!/usr/bin/env python
from __future__ import annotations

import gc
import os
import signal
import sys

if __name__ == "__main__":
    # Collecting garbage while everything is imported costs a fifth of a start; OpencodeWebConfig
    # switches it on again.
    gc.disable()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")
    # Autobahn's C code is compiled with a parser that takes longer to load than our frames gain.
    os.environ.setdefault("AUTOBAHN_USE_NVX", "0")
    if sys.argv[1:2] == ["up"]:
        # Until the server has handlers of its own. As an exception, Ctrl+C can get lost in whatever
        # is being imported, and the server would start all the same.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
