"""Previews: web apps that run in a terminal, in the browser of the person whose terminal it is.

The app listens in the sandbox's own network on the project's host, requests end at any web process
(`sessions.consumers.preview`). Between them there is only the bus, so each connection to the app
is carried through it (`link`):

* Everything that is sent one way on a connection is numbered. Who finds a gap ends the connection:
  bytes are never silently missing, and browsers and dev servers connect again.
* Who sends stops at a window of bytes that the other side has not taken (`channel`).
* Every two seconds both sides say which connections they have, what was sent on each and what was
  taken. So the last message of a connection cannot get lost unnoticed, nor its end.

`serving` is the worker's side, which lives as long as its terminal, and `exchange` that of a web
process.
"""
