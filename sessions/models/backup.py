from __future__ import annotations

from django.db import models


class Backup(models.Model):
    """A backup of one host that was made. Written when it is complete; not in itself."""

    id = models.CharField(primary_key=True, max_length=40)
    host = models.CharField(max_length=100)
    destination = models.CharField(max_length=1000)
    # The watermark: when the database was copied, and how many events it had.
    taken_at = models.DateTimeField()
    events = models.BigIntegerField()
    logs = models.BigIntegerField()
    finished_at = models.DateTimeField()
    size_bytes = models.BigIntegerField()
    encrypted = models.BooleanField()
    # Files that could not be read and are not in it.
    unreadable = models.PositiveIntegerField(default=0)
    # When its files were compared with their hashes last, and what was wrong with them.
    verified_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = [models.Index(fields=["-taken_at"], name="backup_list")]

    def __str__(self) -> str:
        return self.id
