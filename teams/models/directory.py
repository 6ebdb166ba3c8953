"""What a directory that speaks SCIM knows of the accounts here, and the keys it has."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject


def new_group_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("grp")


class DirectoryToken(models.Model):
    """A key of the directory. Only the digest is kept; `prefix` names the row."""

    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"


class DirectoryAccount(models.Model):
    """What the directory calls a person; only for those of whom it has told something."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="directory"
    )
    # In lower case, which is how names are compared.
    user_name = models.CharField(max_length=255, unique=True)
    external_id = models.CharField(max_length=255, blank=True)
    # What it has said of the person, in the shape of SCIM: name, addresses, nothing that we do not
    # use or have to give back.
    data: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict)
    # The directory has deleted it: it finds it no more, and the account is deactivated.
    is_deleted = models.BooleanField(default=False)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["external_id"],
                condition=~models.Q(external_id=""),
                name="teams_directory_external_id_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} is {self.external_id}"


class DirectoryGroup(models.Model):
    """A group of people in the directory. Rules give its members roles in teams by its name."""

    id = models.CharField(primary_key=True, max_length=40, default=new_group_id, editable=False)
    name = models.CharField(max_length=255, unique=True)
    external_id = models.CharField(max_length=255, blank=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="directory_groups")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
