"""What a repository brings for agents: skills, agents, commands and tools, read as data.

Whoever may write to the repository chose every name, link and text in here. So files are reached
from below the root of the worktree only, are bounded, and give a person's team no more than its own
rules do until an administrator has trusted these very contents (`trust`).

Nothing in here starts a process: tools are described and run in the sandbox, by the runner.
"""
