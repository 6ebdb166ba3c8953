"""The Slack workspace of a team: people talk to agents there as they do in the browser.

    setup.py     what admins set, and what is wrong with it     manifest.py  the app they make
    receive.py   keeps what Slack sends, by HTTP or by socket   heard.py     reads it
    handle.py    does what it asks: prompts and accounts        commands.py  lists, buttons, modals
    answers.py   writes and edits what is said there            blocks.py    the form of that
    files.py     sends what a turn has changed
    service.py   speaks with Slack for a workspace, in one process of all

`api.py` is Slack's Web API, by `client.py`, and `socket.py` Socket Mode. These two use Slack's own
packages, which are loaded once they are needed. What comes is kept as `InboundDelivery`, what goes
as `OutsideReply`.
"""
