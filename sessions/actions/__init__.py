"""Every write to sessions and projects that a person asks for.

One action is one transaction: rows, events and the audit entry together; publishing and waking
happen when it has committed. Subjects come authorised from `sessions.access`.
"""
