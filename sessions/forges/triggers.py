from __future__ import annotations

from enum import StrEnum


class Trigger(StrEnum):
    """What happens outside that a rule can be about."""

    ISSUE_OPENED = "issue_opened"
    ISSUE_LABELED = "issue_labeled"
    # To the account of the credential.
    ISSUE_ASSIGNED = "issue_assigned"
    PULL_OPENED = "pull_opened"
    PULL_PUSHED = "pull_pushed"
    REVIEW_COMMENT = "review_comment"
    CHECK_FAILED = "check_failed"
