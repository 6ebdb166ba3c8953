"""Commands: prompts with a name, typed as `/name what follows`.

They are built in, in the settings of a team or project, in `.opencode/command/` of a repository,
and every skill is one. `catalog` says which there are, `template` fills one in, and
`sessions.actions.commands` admits the prompt that comes of it.

A template's shell parts are run by the session's worker as calls of the tool bash, so that the
rules of the agent decide and people are asked; the runner then puts their outputs into the prompt.
"""
