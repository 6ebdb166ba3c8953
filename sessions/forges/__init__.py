"""Pull requests and comments on the forges where repositories are kept.

    remote.py    which forge an address leads to        adapter.py   what each can be asked for
    api.py       requests, and errors as sentences      registry.py  the adapters
    github.py    gitlab.py    gitea.py         issue_comments.py  what two of them have alike
    inbound.py   what forges send, and whether they have sent it

Each adapter knows one API and nothing of rows, sessions or people. A token goes to the API's own
host only; it is in no message, no log and no `repr`.
"""
