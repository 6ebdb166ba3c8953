"""Terminals: people's own shells in the sandbox of a project.

The program runs in a worker of the project's host (`host`), the sockets end at any web process
(`sessions.consumers.terminal`). Between them there is the bus, which may lose messages, so nothing
relies on one of them (`link`):

* What the program writes is numbered in UTF-16 units, as OpenCode's clients count it, and the
  newest of it is kept (`scrollback`). Who finds a gap asks for what is missing.
* What a person types is numbered for each socket; the worker takes every piece once and in order
  (`typed`), and says how far it is. What it has not taken is sent again.
* Every two seconds the worker renews the lease of the row, looks whether the person may still have
  it, and says where the output ends. A row whose lease ran out is settled by the beat, and a socket
  that hears nothing looks at the row.
"""
