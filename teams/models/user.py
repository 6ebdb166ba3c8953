from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject


class Theme(models.TextChoices):
    """How pages look. The empty value follows the system."""

    SYSTEM = "", _("Same as the system")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class Density(models.TextChoices):
    """How much room there is between things."""

    COMFORTABLE = "", _("Comfortable")
    COMPACT = "compact", _("Compact")


class TextSize(models.TextChoices):
    """How large text is, beside what the browser does."""

    SMALL = "small", _("Small")
    MEDIUM = "", _("Medium")
    LARGE = "large", _("Large")


# What a browser can tell of: requests that wait, turns that have ended, and that have failed.
NOTICES = ("asks", "ends", "fails")
SOUNDS = tuple(f"sound_{kind}" for kind in NOTICES)


@dataclass(frozen=True)
class SignIn:
    """Whether a browser was signed in with a second factor, and by which identity providers."""

    mfa: bool = False
    # Their slugs.
    providers: frozenset[str] = frozenset()


class UserManager(BaseUserManager["User"]):
    """People are made by `actions/users.py`; operators also by `manage.py createsuperuser`."""

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)

    def create_superuser(self, email: str, password: str, **fields: object) -> User:
        """What `manage.py createsuperuser` calls."""
        user = self.model(email=email.lower(), is_staff=True, is_superuser=True, **fields)
        user.set_password(password)
        user.save()
        return user


def handle_of(name: str) -> str:
    """Returns: a name as one word; empty for one without letters and digits."""
    return re.sub(r"\W+", "-", name).strip("-")


class User(AbstractBaseUser, PermissionsMixin):
    """A person. Signs in by e-mail; `is_superuser` marks an operator, who sees no team by that."""

    email = models.EmailField("e-mail", unique=True)
    name = models.CharField(max_length=120, blank=True)
    theme = models.CharField(max_length=8, choices=Theme.choices, default=Theme.SYSTEM, blank=True)
    # Personal switches that no query asks for, such as `keys_enabled`.
    preferences: models.JSONField[JsonObject, JsonObject] = models.JSONField(
        default=dict, blank=True
    )
    is_active = models.BooleanField(default=True)
    # Whether an operator has deactivated it: then no directory reactivates it.
    is_locked = models.BooleanField(default=False, db_default=False)
    # Set for a program's account: the team that owns it. It has no password.
    service_of = models.ForeignKey(
        "teams.Team", models.CASCADE, null=True, blank=True, related_name="service_accounts"
    )
    is_staff = models.BooleanField("may open the raw-row admin", default=False)
    created_at = models.DateTimeField(default=timezone.now)
    # The day, in UTC, on which a browser of theirs was last in use. Others may know the day only.
    last_seen_on = models.DateField(null=True, blank=True)

    objects: ClassVar[UserManager] = UserManager()

    # Of who is signed in with a browser: what that sign-in has shown. See `teams/policy.py`.
    sign_in: SignIn | None = None

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (models.UniqueConstraint(Lower("email"), name="teams_user_email_any_case"),)

    def __str__(self) -> str:
        return self.email

    @property
    def display_name(self) -> str:
        return self.name or self.email.partition("@")[0]

    @property
    def handle(self) -> str:
        """What stands after an `@` to mention them. Namesakes have the same."""
        return handle_of(self.display_name)

    @property
    def notified_kinds(self) -> str:
        """What browsers tell this person of, with blanks between: `asks`, `sound-asks`, ..."""
        # Failures were told with the ends once.
        chosen = {"notify_fails": self.preferences.get("notify_ends"), **self.preferences}
        kinds = (one for one in (*NOTICES, *SOUNDS) if chosen.get(f"notify_{one}"))
        return " ".join(kinds).replace("_", "-")

    @property
    def language(self) -> str:
        """The language of pages, empty for the one that the browser asks for."""
        return str(self.preferences.get("language", ""))

    @property
    def density(self) -> str:
        """One of `Density`."""
        return str(self.preferences.get("density", ""))

    @property
    def text_size(self) -> str:
        """One of `TextSize`."""
        return str(self.preferences.get("text_size", ""))

    @property
    def high_contrast(self) -> bool:
        """Whether text stands out as WCAG's AAA wants it, whatever the system says."""
        return bool(self.preferences.get("high_contrast"))

    @property
    def enter_running(self) -> str:
        """What Enter does with a message while the agent works: `steer` or `queue`."""
        return "queue" if self.preferences.get("enter_running") == "queue" else "steer"

    @property
    def keys_enabled(self) -> bool:
        """Whether single-key shortcuts act. They can be in the way of a screen reader."""
        return bool(self.preferences.get("keys_enabled", True))
