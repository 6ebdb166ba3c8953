"""From the bus to whoever watches: browsers by websocket, API clients by server-sent events.

`hub.watch` shares one bus subscription per group between all watchers of a process. A watcher
subscribes first, then reads the rows or the log, then applies what arrived with a higher sequence
number; what the bus lost is found again in the log. Nothing here writes to the database.
"""
