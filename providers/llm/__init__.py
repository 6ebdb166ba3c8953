"""Calls of language models, whoever serves them: a request in, a stream of typed events out.

    request (messages.py)  ->  repairs  ->  adapter  ->  route: protocol, address, auth
    protocol: encode -> body      connection: one HTTP request      framing, decoder -> events

A protocol is a wire format. An adapter knows one vendor or family: where it is served, how a
request proves who asks, and in what it differs. Whoever has another vendor registers an adapter for
it (`register`). Nothing here knows of Django, of a database or of sessions, and nothing is fetched
but the answer that was asked for.
"""

from __future__ import annotations

from . import adapters as adapters
from .encoding import encode as encode
from .encoding import sent_limit as sent_limit
from .route import has_adapter as has_adapter
from .route import register as register
from .stream import stream as stream
from .unused_options import unused_options as unused_options
