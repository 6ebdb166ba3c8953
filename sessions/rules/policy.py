"""What agents do only with a second person, where the team has one approve such changes. Pure."""

from __future__ import annotations

from collections.abc import Collection

from sessions.models import ChangeKind
from tools.permissions.rules import Action, Level, Rule, Ruleset

# By any of these a program can do what the others are for.
_FORGES = ("gh api *", "glab api *", "hub api *")
_PUSHING = (
    *("git push *", "git send-pack *", "git http-push *", "git lfs push *", "git svn dcommit *"),
    *("gh pr create *", "gh repo sync *", "glab mr create *", "hub push *", "hub pull-request *"),
    *_FORGES,
)
_MERGING = ("gh pr merge *", "glab mr merge *", "glab mr accept *", "hub merge *", *_FORGES)
# In a worktree of its own a session can only merge into its own branch, as it has to keep up.
_MERGING_IN_PROJECT = ("git merge *", "git pull *")


def policy_rules(kinds: Collection[str], *, in_project: bool) -> Ruleset:
    """`kinds`: what the team has a second person approve. `in_project`: the session works in the
    project's own folder.

    Returns: rules that go beside those of all other levels, and that none of these loosens.
    """
    patterns: list[str] = []
    if ChangeKind.PUSH in kinds:
        patterns += _PUSHING
    if ChangeKind.MERGE in kinds:
        patterns += (*_MERGING, *(_MERGING_IN_PROJECT if in_project else ()))
    asks = (Rule("bash", one, Action.ASK_OTHER, Level.POLICY) for one in dict.fromkeys(patterns))
    return tuple(asks)
