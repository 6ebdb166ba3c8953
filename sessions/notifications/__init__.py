"""What people are told of while they look elsewhere.

    event ─▶ row without a person ─▶ one for each person and channel ─▶ sent, held back or dropped

`addressing` chooses the people, `choices` reads what they want and when, `messages` says it, and
`send` goes through what is due. A channel is one module of `channels`, which `registry` lists.
"""
