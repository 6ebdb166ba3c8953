from __future__ import annotations

import os

# By hand, where the recordings are: their checker is not part of this project.
collect_ignore = [] if "OPENCODE_WEB_ACP_CASES" in os.environ else ["test_acp_recorded.py"]
