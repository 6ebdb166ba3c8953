"""Benchmarks: this server beside the genuine `opencode serve`, in one run on one machine.

`python -m bench` starts a scripted OpenAI-compatible endpoint (`endpoint`), then one server after
the other (`reference`, `ours`), never two at once, and asks each the same things over the HTTP API
that they share (`startup`, `turns`, `parallel`); what only our server has is in `growth` and
`live`. `report` prints the table and writes RESULTS.md. All traffic stays on loopback, every loop
is bounded in count and time, and every process that was started is ended, also on Ctrl+C.
"""

from __future__ import annotations
