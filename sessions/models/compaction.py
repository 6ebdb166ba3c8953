from __future__ import annotations

from django.db import models


class Compaction(models.Model):
    """A summary that stands for what came before it when the model reads the session.

    It goes with its messages: when they are removed, the history is read in full again.
    """

    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="compactions"
    )
    # The user message that asked for it, and the answer with the summary.
    message = models.OneToOneField(
        "agent_sessions.Message", models.CASCADE, primary_key=True, related_name="compaction"
    )
    summary = models.OneToOneField("agent_sessions.Message", models.CASCADE, related_name="+")
    # Sequence number of the user message.
    seq = models.BigIntegerField()
    # The model reads messages from this sequence number on. Those below `seq` are kept verbatim.
    history_from = models.BigIntegerField()
    # Tokens that the conversation took up before and, estimated, afterwards.
    tokens_before = models.BigIntegerField()
    tokens_after = models.BigIntegerField()
    # It has made too little room.
    in_vain = models.BooleanField()

    class Meta:
        indexes = [models.Index(fields=["session", "seq"], name="compaction_order")]
