from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from sessions.models import ChangeKind, Session


@dataclass(frozen=True)
class Place:
    """Where a session stands: what links and shortened paths in its fragments are made of."""

    team: str
    session: str
    worktree: str
    # Whether the team has a second person approve rules, so that no answer is saved.
    holds_rules: bool = False

    @classmethod
    def of(cls, session: Session) -> Place:
        """`session.project.team` should be loaded."""
        team = session.project.team
        holds_rules = ChangeKind.RULES in team.needs_approval
        return cls(team.slug, session.pk, session.worktree, holds_rules)

    def url(self, name: str, **names: str) -> str:
        """The address of a page or form below this session."""
        return reverse(
            f"sessions:{name}", kwargs={"team": self.team, "session": self.session, **names}
        )

    def url_of(self, session: str) -> str:
        """The page of another session of the team."""
        return reverse("sessions:session", kwargs={"team": self.team, "session": session})

    def sub_url(self, session: str) -> str:
        """The page of a sub-agent of this session, or of one further down."""
        return self.url("sub", child=session)

    def changes_url(self, turn: str) -> str:
        """The page with what one turn has changed."""
        return f"{self.url('session')}?panel=changes&turn={turn}"

    def changes_of(self, path: str) -> str:
        """The page with a file in what the session has changed."""
        query = urlencode({"panel": "changes", "source": "session", "file": path})
        return f"{self.url('session')}?{query}"

    def file_url(self, path: str) -> str:
        """The page with a file of the session's folder."""
        return f"{self.url('session')}?{urlencode({'panel': 'files', 'file': path})}"

    def message_url(self, message: str, *, turn: str, part: str = "") -> str:
        """The page at a message, or at a part of it, wherever it stands in the conversation."""
        place = f"prt-{part}" if part else f"turn-{turn}"
        return f"{self.url('session')}?at={message}#{place}"

    def body_url(self, part_id: str) -> str:
        return self.url("body", part=part_id)

    def short(self, path: str) -> str:
        """The path as people of the project write it."""
        if path == self.worktree:
            return "."
        return path.removeprefix(f"{self.worktree.rstrip('/')}/")

    def shorten_all(self, text: str) -> str:
        """The same for every path in a text."""
        root = self.worktree.rstrip("/")
        return text.replace(f"{root}/", "") if root else text
