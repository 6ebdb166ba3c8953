"""Which forge a repository's address leads to. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from sessions.forges.adapter import ForgeKind

_KNOWN = {
    "github.com": ForgeKind.GITHUB,
    "gitlab.com": ForgeKind.GITLAB,
    "codeberg.org": ForgeKind.GITEA,
    "gitea.com": ForgeKind.GITEA,
}
# These answer for ssh at port 443, where another one is closed.
_SAME = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
_APIS = {ForgeKind.GITHUB: "/api/v3", ForgeKind.GITLAB: "/api/v4", ForgeKind.GITEA: "/api/v1"}


@dataclass(frozen=True)
class Remote:
    """A repository on a host; `path` is without slashes around it and without .git.

    `netloc` has the port of an http address, for a forge that is not at the usual one.
    """

    host: str
    netloc: str
    scheme: str
    path: str

    @property
    def kind(self) -> ForgeKind | None:
        """The forge, where its host alone tells."""
        return _KNOWN.get(self.host)

    def api_url(self, kind: ForgeKind) -> str:
        """Where the API of such a forge usually is on this host."""
        if kind is ForgeKind.GITHUB and self.host == "github.com":
            return "https://api.github.com"
        return f"{self.scheme}://{self.netloc}{_APIS[kind]}"

    def commit_url(self, kind: ForgeKind, commit: str) -> str:
        """The page of a commit."""
        below = "-/commit" if kind is ForgeKind.GITLAB else "commit"
        return f"{self.scheme}://{self.netloc}/{quote(self.path)}/{below}/{commit}"

    def path_for(self, kind: ForgeKind, api_url: str) -> str:
        """The repository's path as the API wants it; a forge can be below a folder of its host."""
        if kind is not ForgeKind.GITLAB:
            return "/".join(self.path.split("/")[-2:])
        root = urlsplit(api_url).path.removesuffix(_APIS[kind]).strip("/")
        return self.path.removeprefix(f"{root}/") if root else self.path


def remote_of(url: str) -> Remote | None:
    """Take apart an address that `parse_git_url` has let pass.

    Returns: None for what is on no host, or names no repository of somebody.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = _SAME.get(host, host)
    path = unquote(parts.path).strip("/").removesuffix(".git").strip("/")
    if not host or "/" not in path or any(piece in ("", ".", "..") for piece in path.split("/")):
        return None
    if parts.scheme in ("http", "https"):
        _, _, netloc = parts.netloc.rpartition("@")
        return Remote(host, netloc.lower(), parts.scheme, path)
    if parts.scheme == "ssh":
        return Remote(host, f"[{host}]" if ":" in host else host, "https", path)
    return None
