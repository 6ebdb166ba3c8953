"""Copy the third-party files of the browser, and of plugins, from pinned npm packages.

A package is fetched by `npm pack`, its tarball is compared with the digest below, and the named
files are copied unedited beside their licence. The icons that templates name become one sprite.
CodeMirror has no file for browsers, and zod no single one for plugins: `codemirror/` and `zod/`
name packages and what we take from them, of which esbuild makes one module.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

VENDOR = Path(__file__).resolve().parent
SPRITE = VENDOR.parent / "icons.svg"


@dataclass(frozen=True)
class Package:
    """A pinned npm package, and which of its files the browser gets."""

    name: str
    version: str
    sha256: str
    files: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"{self.name.lstrip('@').replace('/', '-')}-{self.version}"


PACKAGES = (
    Package(
        "htmx.org",
        "4.0.1",
        "5fba65616ca148a86d377e9771bcada7f35faee3558651feb929eea425e13b3c",
        ("LICENSE", "dist/htmx.min.js"),
    ),
    Package(
        "@fontsource-variable/inter",
        "5.3.0",
        "d26710dd38e7217484a1d47ee76c024977ec550548876f26d06ed1844af09a14",
        ("LICENSE", "files/inter-latin-wght-normal.woff2"),
    ),
    Package(
        "@fontsource-variable/jetbrains-mono",
        "5.3.0",
        "996fe6368a480c9ce15d4de22a2682b7c40b403718fee2b15e7272f244fd993f",
        ("LICENSE", "files/jetbrains-mono-latin-wght-normal.woff2"),
    ),
    Package(
        "@xterm/xterm",
        "6.0.0",
        "908e66e04af6c8dc6b00dd3b54de088e2e81e5ed866284fd6c2fb3c2d1c7a3f6",
        ("LICENSE", "lib/xterm.mjs", "css/xterm.css"),
    ),
    Package(
        "@xterm/addon-fit",
        "0.11.0",
        "26003b4517a132b64e4ff228fd88a5fda3fff5e606c76093f6dcff772e9ecec0",
        ("LICENSE", "lib/addon-fit.mjs"),
    ),
    Package(
        "modern-screenshot",
        "4.7.0",
        "f0a936790389088dccfaec198f904339878a0cf8e875745bb262ca761c804dc3",
        ("LICENSE", "dist/index.js"),
    ),
)
# Modules by their name and version, with the digest of what the same packages always make.
BUILT = {
    "codemirror-6.0.2": "c815161fa9df2942706493e01ae835657d1ff71c725962e272ebcd843e0a7424",
    "zod-4.1.8": "1ded1c59012e5e8369a5be2555514a23301c8879d4ff82328832722a4eec8e1a",
}
LUCIDE = Package(
    "lucide-static",
    "1.62.0",
    "386f9080c440d6f5049cefe3456ae8357f7a0c7f76e59670cd1cb83bc7050a44",
    ("LICENSE",),
)
# fmt: off
ICONS = (
    "arrow-down", "arrow-left", "arrow-right", "arrow-up", "ban", "bot", "camera", "chart-column",
    "check", "chevron-down", "chevron-right", "circle", "circle-alert", "circle-check",
    "circle-dashed", "circle-help", "clock", "columns-2", "copy", "cpu", "ellipsis",
    "external-link", "eye", "file-diff", "file-text", "fold-vertical", "folder", "folder-git-2",
    "folder-tree", "git-branch", "globe", "house", "info", "key-round", "keyboard", "link",
    "list-checks", "lock", "log-out", "maximize-2", "menu", "message-square", "mic", "minimize-2",
    "minus", "monitor", "moon", "palette", "panel-left", "panel-right", "pencil", "pin", "plus",
    "refresh-cw", "rotate-ccw", "rows-2", "scroll-text", "search", "send", "settings",
    "shield-check", "space", "square", "square-mouse-pointer", "star", "sun", "terminal", "trash-2",
    "triangle-alert", "unfold-vertical", "upload", "user", "users", "wrap-text", "x",
)
# fmt: on


def run(folder: Path, program: str, *arguments: str) -> str:
    """Returns: its output. Raises: SystemExit when it is missing or fails."""
    found = shutil.which(program)
    if found is None:
        sys.exit(f"{program} is needed to bring the packages.")
    done = subprocess.run(  # noqa: S603 - the arguments are constants of this file
        [found, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def fetch_package(package: Package, scratch: Path) -> tarfile.TarFile:
    """Raises: SystemExit when npm fails or the tarball is not the one that was pinned."""
    wanted = f"{package.name}@{package.version}"
    tarball = scratch / run(scratch, "npm", "pack", "--silent", wanted).split()[-1]
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    if digest != package.sha256:
        sys.exit(f"{wanted} has the digest {digest}, expected {package.sha256}.")
    return tarfile.open(tarball)


def read_member(tar: tarfile.TarFile, name: str) -> bytes:
    """Raises: KeyError when the package has no such file."""
    member = tar.extractfile(f"package/{name}")
    if member is None:
        sys.exit(f"{name} is not a file in its package.")
    return member.read()


def copy_files(package: Package, tar: tarfile.TarFile) -> None:
    """Replace the package's folder, so that nothing of an earlier version stays behind."""
    folder = VENDOR / package.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in package.files:
        (folder / PurePosixPath(name).name).write_bytes(read_member(tar, name))


def build_sprite(tar: tarfile.TarFile) -> str:
    """Returns: one SVG whose symbols carry the icons' names; the style sheet draws the strokes."""
    symbols = []
    for name in sorted(ICONS):
        svg = read_member(tar, f"icons/{name}.svg").decode()
        inner = re.search(r"<svg[^>]*>(.*)</svg>", svg, re.DOTALL)
        if inner is None:
            sys.exit(f"The icon {name} has an unexpected shape.")
        shapes = " ".join(inner[1].split()).replace(" />", "/>").replace("> <", "><")
        symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24">{shapes}</symbol>')
    head = (
        f"<!-- lucide-static {LUCIDE.version}, licence in vendor/{LUCIDE.folder} -->\n"
        '<svg xmlns="http://www.w3.org/2000/svg">\n'
    )
    return head + "\n".join(symbols) + "\n</svg>\n"


def build_module(module: str, scratch: Path) -> None:
    """Raises: SystemExit when the module is not the one that was pinned."""
    name = module.partition("-")[0]
    shutil.copytree(VENDOR / name, scratch, dirs_exist_ok=True)
    # The lock file has the digests of all packages.
    run(scratch, "npm", "ci", "--ignore-scripts", "--silent")
    flags = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none")
    built = scratch / f"{name}.mjs"
    run(scratch, "npx", "esbuild", "entry.js", *flags, f"--outfile={built}")
    digest = hashlib.sha256(built.read_bytes()).hexdigest()
    if digest != BUILT[module]:
        sys.exit(f"{module} has the digest {digest}, expected {BUILT[module]}.")
    folder = VENDOR / module
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(built, folder)
    texts = {path.read_text().strip() for path in sorted(scratch.glob("node_modules/**/LICENSE"))}
    (folder / "LICENSE").write_text("\n\n".join(sorted(texts)) + "\n")


def main() -> None:
    """Fetch, verify and copy everything."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for package in PACKAGES:
            with fetch_package(package, scratch) as tar:
                copy_files(package, tar)
        with fetch_package(LUCIDE, scratch) as tar:
            copy_files(LUCIDE, tar)
            SPRITE.write_text(build_sprite(tar))
        for module in BUILT:
            build_module(module, scratch / module)


if __name__ == "__main__":
    main()
