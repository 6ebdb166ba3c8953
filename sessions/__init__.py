"""Sessions: durable conversations with an agent in a project's worktree.

The life of a prompt:

1. `actions.prompts.admit_prompt` writes a SessionInput and commits.
2. On commit `wake` rings the doorbell: a Celery task with the session id.
3. A worker takes the session's lease; its fencing token is checked by every append.
4. `runner.loop` settles what a dead owner left, promotes inputs at the safe boundary,
5. makes exactly one provider stream, settles the tool calls, and goes on until nothing is left.
6. A request to a person suspends the session: rows hold it, and the answer rings again.
7. `idle` is written in the same transaction as the last event.
8. Every change is an event; projections (Session, Message, Part, …) are folded from them.
9. On commit the events go out live; who missed one reads the log after its sequence number.
"""
