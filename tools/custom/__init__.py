"""Tools that a repository brings, described and run inside the sandbox; nothing of them runs here.

A host program (`host.py`, `host.mjs`) is given to the interpreter in the sandbox as a text. It
reads one JSON object from its standard input, loads the tool's file, and prints one line: the
marker of the request and a JSON object. Everything else that is printed is the tool's own output.

- `{"do": "describe", "file", "marker"}` → `{"tools": [{"export", "description", "parameters"}]}`
- `{"do": "run", "file", "export", "arguments", "context", "marker"}` → `{"title"?, "output",
  "metadata"?}`; `context` is `{sessionID, messageID, callID, agent, directory}`
- either → `{"error"}`

`parameters` is a JSON schema of an object. `export` is `default`, or the name under which a file
has one of several tools.
"""
