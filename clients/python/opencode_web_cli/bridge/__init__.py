"""`acp`: editors drive sessions of the server over the Agent Client Protocol.

    editor ⇄ wire ⇄ agent (methods) → sessions → turns   → server (REST)
                     updates  ← transcripts  ← feed      ← server (server-sent events)

The agent and its files are on the server: this is a translator, with the rights of its token and
none of its own. `place` finds the project and maps paths, `prompts` and `updates` translate what
is said, `asks` puts the server's questions to the editor, `extensions` has what the protocol lacks.
"""
