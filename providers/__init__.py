"""Providers: which model, with what key, and how its answer streams.

    catalog (models.dev data) + the team's rows + opencode.json  ->  resolve  ->  ResolvedModel
    ProviderRequest  ->  transforms  ->  stream over litellm  ->  StreamEvents (events.py)

litellm is the transport; none of its types leaves this package. A stream never raises for a
provider's fault: it ends with `Finished` or `Failed`. Keys are `Secret` from the row to the wire,
so they print as dots everywhere between. Nothing here knows of sessions or tools.
"""
