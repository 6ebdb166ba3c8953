from __future__ import annotations

from django.db import models


class SeenFile(models.Model):
    """What a file held when a call of the session read or wrote it.

    A fact of the worktree, not of the conversation, so it is no event. It counts as long as the
    part of the call is there: with a rollback goes what was read in the part that went. That is why
    `part_id` is no foreign key, for rows of parts are made again from the log.
    """

    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="seen_files")
    part_id = models.CharField(max_length=60)
    # SHA-256 of the path from the worktree's root, without links: a path can be longer than what an
    # index takes, and need not be text.
    path_digest = models.CharField(max_length=64)
    # SHA-256 of the content; empty when the call removed the file.
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "path_digest", "part_id"], name="one_seen_file_of_a_call"
            )
        ]
