"""What a sandboxed command sees of the file system. Pure but for looking at what exists."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HOME = Path("/agent")
_TMP = Path("/tmp")  # noqa: S108  the sandbox's own
# /bin and friends are links into /usr on current systems, folders on older ones.
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Of /etc only what programs need to start: no keys, tokens, password hashes or host names. A file
# like gitconfig, npmrc or pip.conf may hold a credential of the host.
_ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "magic",
    "magic.mime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "python3",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
_ETC_NETWORK = ("resolv.conf",)
# The kernel lets uid 0 write these without any capability, and under a server that runs as root a
# command is that uid to the kernel: /proc/sys/kernel/core_pattern alone would be a way out of the
# sandbox.
_KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "acpi", "scsi", "fs", "mtrr")
# These may not be a worktree: binding them would undo the rest.
_RESERVED = (
    "/",
    "/usr",
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/tmp",  # noqa: S108
    "/var",
    "/run",
    "/home",
    str(HOME),
)


@dataclass(frozen=True)
class Layout:
    """The folders of one session. `hidden` are places of the server that must never be seen.

    `lent` are folders that it may read beside its worktree: objects that its git borrows.
    With `read_only` the worktree can be read but not changed.
    """

    worktree: Path
    session_dir: Path
    hidden: tuple[Path, ...] = ()
    lent: tuple[Path, ...] = ()
    read_only: bool = False

    @property
    def secret(self) -> tuple[Path, ...]:
        """Every place that no bind mount may show, links resolved."""
        places = [self.session_dir, Path.home(), *self.hidden]
        if sys.prefix != sys.base_prefix:
            places.append(Path(sys.prefix))
        return tuple(dict.fromkeys(Path(os.path.realpath(place)) for place in places))

    @property
    def in_memory(self) -> tuple[str, ...]:
        """The folders inside that are memory, relative to the root."""
        return ("dev/shm", "tmp") if self.loses_tmp else ("dev/shm",)

    @property
    def loses_tmp(self) -> bool:
        """Whether each command gets a /tmp of its own.

        A mount point is never made inside a folder that commands can write: they could plant a link
        there for bubblewrap to follow. So a worktree below /tmp costs the session its lasting /tmp.
        """
        return self.worktree.is_relative_to(_TMP)

    def problem(self) -> str | None:
        """Say why this worktree cannot be bound; None when it can."""
        if str(self.worktree) in _RESERVED:
            return f"{self.worktree} is a system folder and cannot be a project"
        for place in self.secret:
            if place.is_relative_to(self.worktree):
                return f"the project folder {self.worktree} contains files of the server"
        return None


def mount_arguments(
    layout: Layout, *, network: bool, tmpfs_bytes: int | None = None
) -> Iterator[str]:
    """Build bubblewrap's arguments for the file system, in the order they must be applied.

    `tmpfs_bytes` bounds each folder that is memory; None where bubblewrap is too old for that.
    """
    sized = () if tmpfs_bytes is None else ("--size", str(tmpfs_bytes))
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in (*_ETC, *_etc_versions(), *(_ETC_NETWORK if network else ())):
        if (path := Path("/etc", name)).exists():
            yield from ("--ro-bind", str(path), str(path))
    for name in ("passwd", "group", "gitconfig", "hosts"):
        yield from ("--ro-bind", str(layout.session_dir / "etc" / name), f"/etc/{name}")
    base = interpreter_prefix(layout)
    if base is not None:
        yield from ("--ro-bind", str(base), str(base))
    yield from ("--proc", "/proc", "--dev", "/dev")
    # The rest of /dev is memory too, and nobody needs to write there.
    yield from (*sized, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    for name in _KERNEL_SETTINGS:
        if (path := Path("/proc", name)).exists():
            yield from ("--ro-bind", str(path), str(path))
    yield from _masks(layout, [Path("/usr"), *([base] if base else [])])
    yield from ("--bind", str(layout.session_dir / "home"), str(HOME))
    if layout.loses_tmp:
        yield from (*sized, "--tmpfs", str(_TMP))
    else:
        yield from ("--bind", str(layout.session_dir / "tmp"), str(_TMP))
    for folder in layout.lent:
        yield from ("--ro-bind", str(folder), str(folder))
    bind = "--ro-bind" if layout.read_only else "--bind"
    yield from (bind, str(layout.worktree), str(layout.worktree))
    # The root itself and /etc are a tmpfs of this command; writing there would only mislead.
    yield from ("--remount-ro", "/")


def prepare_session_dir(session_dir: Path) -> None:
    """Make the folders and the few system files of a session's sandbox. Safe to repeat."""
    for name in ("home", "tmp", "etc"):
        (session_dir / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    identity = os.getuid(), os.getgid()
    files = {
        "passwd": "agent:x:{0}:{1}:agent:{2}:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
        "group": "agent:x:{1}:\nnogroup:x:65534:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        # The worktree is the only repository there is, so git need not doubt its owner.
        "gitconfig": (
            "[safe]\n\tdirectory = *\n[user]\n\tname = agent\n\temail = agent@sandbox.invalid\n"
            "[init]\n\tdefaultBranch = main\n"
        ),
    }
    for name, text in files.items():
        path = session_dir / "etc" / name
        wanted = text.format(*(identity if all(identity) else (1000, 1000)), HOME)
        if not path.is_file() or path.read_text(encoding="utf-8") != wanted:
            path.write_text(wanted, encoding="utf-8")


def interpreter_prefix(layout: Layout) -> Path | None:
    """Find the Python installation to show when it is not under /usr, so that `python3` works.

    Returns: None when it is already visible, or when showing it would show something secret.
    """
    base = Path(os.path.realpath(sys.base_prefix))
    if base.is_relative_to("/usr") or str(base) in _RESERVED:
        return None
    if any(place.is_relative_to(base) for place in (*layout.secret, layout.worktree)):
        return None
    return base


def _etc_versions() -> Iterable[str]:
    # Programs installed under /usr keep parts here: /etc/python3.11, /etc/java-17-openjdk.
    return sorted(
        path.name
        for pattern in ("python3.*", "java-*-openjdk")
        for path in Path("/etc").glob(pattern)
    )


def _masks(layout: Layout, shown: list[Path]) -> Iterator[str]:
    """Cover places of the server inside a folder that is shown (an image with /usr/src/app)."""
    for place in layout.secret:
        if place.is_dir() and any(place.is_relative_to(folder) for folder in shown):
            yield from ("--tmpfs", str(place))
