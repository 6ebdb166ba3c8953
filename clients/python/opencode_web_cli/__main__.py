from __future__ import annotations

import sys

from opencode_web_cli.main import main

sys.exit(main())
