"""Which sessions are old enough to go, and which must stay under a legal hold. Reads only.

What removes them is `actions.retention`, with the beat of `jobs.retention`.
"""
