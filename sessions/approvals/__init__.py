"""Changes that a team has a second person approve. Reads only; `sessions.actions` writes.

An action that makes such a change calls `hold_for_approval` inside its transaction, once it has
locked what it changes and knows what that would become. The change then goes on, or `NeedsApproval`
undoes it and says what it was. Pages and our own API routes make a request of that; other callers
get it as an error. To approve a request is to run the same action again, for who has asked, which
finds the approval and compares what there is with what there was.
"""
