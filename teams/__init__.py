"""Who: people, teams, roles, invitations, API tokens and the audit trail.

`access.py` holds the only role logic, `auth.py` turns a header into a `Principal`, and every write
is one function in `actions/`: rows and the audit row in one transaction. The apps above import
from here; this package imports `opencode_web.lib` and nothing else of ours.
"""
