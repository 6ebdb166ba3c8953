"""Providers: which model, with what key, and how its answer streams.

    catalog (models.dev data) + the team's rows + opencode.json  ->  resolve  ->  ResolvedModel
    ProviderRequest  ->  funding  ->  stream  ->  llm: one call over the vendor's own wire

What is put on the wire and how an answer is read is known in `llm` alone, a package that stands on
its own. Here are settings, keys, money and the guarded connections. A stream never raises for a
provider's fault: it ends with `Finished` or `Failed`. Keys are `Secret` from the row to the wire,
so they print as dots everywhere between. Nothing here knows of sessions or tools.
"""
