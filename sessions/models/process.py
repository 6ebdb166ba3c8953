from __future__ import annotations

from django.conf import settings
from django.db import models


class ServerProcess(models.Model):
    """A process of this installation, and when it last said that it lives. Operational."""

    class Kind(models.TextChoices):
        WEB = "web"
        WORKER = "worker"
        # The embedded server: both of them.
        ALL = "all"

    # As in the leases of its sessions; a process that gets the number of a dead one replaces it.
    name = models.CharField(primary_key=True, max_length=120)
    kind = models.CharField(max_length=6, choices=Kind)
    # Whose queue it serves.
    host = models.CharField(max_length=100)
    version = models.CharField(max_length=40)
    build = models.CharField(max_length=80)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    # Resident; none where the system does not tell.
    memory_bytes = models.BigIntegerField(null=True)
    # Websockets of browsers that are open.
    sockets = models.PositiveIntegerField(default=0)
    # Sessions whose text has grown within `sessions.runner.log.pulse.GREW_S`.
    growing = models.JSONField(default=list)
    # `providers.tally.last_hour` of its calls.
    providers = models.JSONField(default=dict)
    # `opencode_web.lib.plugins.loading.plugin_states`.
    plugins = models.JSONField(default=dict, db_default={})
    # Since when it shall take up no session, and whether it has heard of that.
    drain_since = models.DateTimeField(null=True)
    drain_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    drain_heard = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name
