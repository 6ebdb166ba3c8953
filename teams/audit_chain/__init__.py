"""The audit trail proves itself: chains of hashes, their check, and signed heads.

Every entry has a digest over the canonical JSON of its fields. The database gives it a number and
a hash over the hash before it and that digest, see migration 0020. Whoever changes, removes,
inserts or reorders entries breaks the chain; whoever writes all of it anew, or takes entries from
its end, contradicts a signed head. Those are written to the log, so that they can be kept where the
server's own operators do not reach.
"""
