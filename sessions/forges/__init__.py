"""Pull requests and comments on the forges where repositories are kept.

    remote.py    which forge an address leads to        adapter.py   what each can be asked for
    api.py       requests, and errors as sentences      registry.py  the adapters
    github.py    gitlab.py    gitea.py         issue_comments.py  what two of them have alike
    reviews.py   what a review says, and the lines it can be on
    pull_reviews.py  gitlab_reviews.py         commit_checks.py  statuses.py
    inbound.py   what forges send, and whether they have sent it

Each adapter knows one API and nothing of rows, sessions or people. A token goes to the API's own
host only; it is in no message, no log and no `repr`.
"""
