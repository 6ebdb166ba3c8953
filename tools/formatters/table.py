"""The formatters that are known: which files they are for, and how they are called.

Source: behaviour facts 7.3 and appendix E. Nothing is downloaded: what is not installed is not
called.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tools.formatters.spec import FILE, Formatter, Wish

_SCRIPTS = ".js .jsx .mjs .cjs .ts .tsx .mts .cts"
_PACKAGE = ("package.json",)
_RUBY = ".rb .rake .gemspec .ru"


def _formatter(
    name: str, extensions: str, command: str, *wishes: Wish, unless: str = ""
) -> Formatter:
    return Formatter(
        name, frozenset(extensions.split()), (*command.split(), FILE), wishes=wishes, unless=unless
    )


_RUFF = (
    Wish(("ruff.toml", ".ruff.toml")),
    Wish(("pyproject.toml",), "[tool.ruff"),
    Wish(("pyproject.toml", "requirements.txt", "Pipfile"), "ruff"),
)
_ALL = (
    _formatter("gofmt", ".go", "gofmt -w"),
    _formatter("mix", ".ex .exs .eex .heex .leex .neex .sface", "mix format"),
    _formatter(
        "prettier",
        f"{_SCRIPTS} .html .htm .css .scss .sass .less .vue .svelte .json .jsonc .yaml .yml"
        " .toml .xml .md .mdx .graphql .gql",
        "prettier --write",
        Wish(_PACKAGE, '"prettier"'),
    ),
    _formatter("oxfmt", _SCRIPTS, "oxfmt", Wish(_PACKAGE, '"oxfmt"')),
    _formatter(
        "biome",
        f"{_SCRIPTS} .html .htm .css .scss .less .vue .svelte .astro .json .jsonc .graphql .gql",
        "biome format --write",
        Wish(("biome.json", "biome.jsonc")),
    ),
    _formatter("zig", ".zig .zon", "zig fmt"),
    _formatter(
        "clang-format",
        ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .ino",
        "clang-format -i",
        Wish((".clang-format",)),
    ),
    _formatter("ktlint", ".kt .kts", "ktlint -F"),
    _formatter("ruff", ".py .pyi", "ruff format", *_RUFF),
    _formatter("air", ".r", "air format"),
    _formatter("uv", ".py .pyi", "uv format --", unless="ruff"),
    _formatter("rubocop", _RUBY, "rubocop --autocorrect"),
    _formatter("standardrb", _RUBY, "standardrb --fix"),
    _formatter("htmlbeautifier", ".erb", "htmlbeautifier"),
    _formatter("dart", ".dart", "dart format"),
    _formatter("ocamlformat", ".ml .mli", "ocamlformat -i", Wish((".ocamlformat",))),
    _formatter("terraform", ".tf .tfvars", "terraform fmt"),
    _formatter("latexindent", ".tex", "latexindent -w -s"),
    _formatter("gleam", ".gleam", "gleam format"),
    _formatter("shfmt", ".sh .bash", "shfmt -w"),
    _formatter("nixfmt", ".nix", "nixfmt"),
    _formatter("rustfmt", ".rs", "rustfmt"),
    _formatter("pint", ".php", "./vendor/bin/pint", Wish(("composer.json",), '"laravel/pint"')),
    _formatter("ormolu", ".hs", "ormolu -i"),
    _formatter("cljfmt", ".clj .cljs .cljc .edn", "cljfmt fix --quiet"),
    _formatter("dfmt", ".d", "dfmt -i"),
)

FORMATTERS: Mapping[str, Formatter] = MappingProxyType({one.name: one for one in _ALL})
