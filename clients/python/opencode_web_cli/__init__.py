"""The command line of OpenCode Web: prompts without a browser, and what scripts need around them.

It talks to a server over HTTP and imports nothing of it. Exit codes: see `failures`.
"""
