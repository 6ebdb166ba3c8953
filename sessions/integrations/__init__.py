"""Outside systems where people talk to agents: a project's forge and issue trackers, and Slack.

    setup.py     what admins set, and what is wrong with it
    github_app.py  a team's own app on GitHub, in place of a webhook and a token
    system.py    what each can be asked for            systems.py  all of them
    trackers.py  an issue tracker's key and team       linear.py   Linear, as one module
    receive.py   takes what they send: signed, once, before it is answered
    handle.py    does what it asks, in order within a thread
    rules.py     what admins have started by what happens there, with templates.py
    start.py     whether a rule starts something, and as whom, with matching.py and bursts.py
    accounts.py  which of our people wrote it          prompts.py  what the agent reads of it
    replies.py   writes and edits the comments that answer
    answers.py   what else answers: reviews.py, checks.py, publish.py

`sessions.forges` knows the forges' APIs, and the module of each tracker its own.
"""
