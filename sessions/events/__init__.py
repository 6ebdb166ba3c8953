"""The event log: what can happen to a session, how it is appended, and how rows are folded from it.

`types` has every durable event, `parts` and `messages` the wire shapes they carry, `store.append`
is the only way in, `projectors` fold one event into the rows, `live` are the messages that may be
lost.
"""
