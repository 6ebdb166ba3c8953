"""The servers that are known: which files they are for, where their root is, how they start.

Source: behaviour facts 7.2 and appendix D. Nothing is downloaded: what is not installed is not
started.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tools.lsp.spec import ServerSpec

_LOCKS = (
    *("package-lock.json", "bun.lockb", "bun.lock", "pnpm-lock.yaml", "yarn.lock"),
    "package.json",
)
_DENO = ("deno.json", "deno.jsonc")
_SCRIPTS = ".ts .tsx .js .jsx .mjs .cjs .mts .cts"
_PYTHON = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"),
    "pyrightconfig.json",
)
_GRADLE = ("settings.gradle", "settings.gradle.kts", "gradlew", "build.gradle", "build.gradle.kts")
_DOTNET = ("*.slnx", "*.sln", "*.csproj", "global.json")
_FSHARP = ("*.slnx", "*.sln", "*.fsproj", "global.json")
_CABAL = ("stack.yaml", "cabal.project", "hie.yaml", "*.cabal")
_CLANG = ("compile_commands.json", "compile_flags.txt", ".clangd")


def _spec(
    id: str,
    extensions: str,
    *commands: str,
    markers: tuple[tuple[str, ...], ...] = (),
    needs_marker: bool = False,
    unless: tuple[str, ...] = (),
    env: tuple[tuple[str, str], ...] = (),
    python: bool = False,
    outermost: str = "",
) -> ServerSpec:
    return ServerSpec(
        id,
        frozenset(extensions.split()),
        tuple(tuple(command.split()) for command in commands),
        markers=markers,
        needs_marker=needs_marker,
        unless=unless,
        env=env,
        python=python,
        outermost=outermost,
    )


_ALL = (
    _spec("deno", ".ts .tsx .js .jsx .mjs", "deno lsp", markers=(_DENO,), needs_marker=True),
    _spec(
        "typescript",
        _SCRIPTS,
        "typescript-language-server --stdio",
        markers=(_LOCKS,),
        unless=_DENO,
    ),
    _spec("vue", ".vue", "vue-language-server --stdio", markers=(_LOCKS,)),
    _spec(
        "eslint",
        f"{_SCRIPTS} .vue",
        "vscode-eslint-language-server --stdio",
        markers=(("eslint.config.*", ".eslintrc*"),),
        needs_marker=True,
    ),
    _spec(
        "oxlint",
        f"{_SCRIPTS} .vue .astro .svelte",
        "oxlint --lsp",
        "oxc_language_server",
        markers=((".oxlintrc.json",),),
        needs_marker=True,
    ),
    _spec(
        "biome",
        f"{_SCRIPTS} .json .jsonc .vue .astro .svelte .css .graphql .gql .html",
        "biome lsp-proxy --stdio",
        markers=(("biome.json", "biome.jsonc"),),
        needs_marker=True,
    ),
    _spec("gopls", ".go", "gopls", markers=(("go.work",), ("go.mod", "go.sum"))),
    _spec("ruby-lsp", ".rb .rake .gemspec .ru", "rubocop --lsp", markers=(("Gemfile",),)),
    _spec("pyright", ".py .pyi", "pyright-langserver --stdio", markers=(_PYTHON,), python=True),
    _spec("elixir-ls", ".ex .exs", "language_server.sh", markers=(("mix.exs", "mix.lock"),)),
    _spec("zls", ".zig .zon", "zls", markers=(("build.zig",),)),
    _spec(
        "csharp",
        ".cs .csx",
        "roslyn-language-server --stdio --autoLoadProjects",
        markers=(_DOTNET,),
    ),
    _spec(
        "razor",
        ".razor .cshtml",
        "roslyn-language-server --stdio --autoLoadProjects",
        markers=(_DOTNET,),
    ),
    _spec("fsharp", ".fs .fsi .fsx .fsscript", "fsautocomplete", markers=(_FSHARP,)),
    _spec(
        "sourcekit-lsp",
        ".swift .m .mm",
        "sourcekit-lsp",
        markers=(("Package.swift", "*.xcodeproj", "*.xcworkspace"),),
    ),
    _spec(
        "rust",
        ".rs",
        "rust-analyzer",
        markers=(("Cargo.toml", "Cargo.lock"),),
        needs_marker=True,
        # The worktree is read-only to it.
        env=(("CARGO_TARGET_DIR", "/agent/.cache/rust-analyzer"),),
        outermost="[workspace]",
    ),
    _spec(
        "clangd",
        ".c .cpp .cc .cxx .c++ .h .hpp .hh .hxx .h++",
        "clangd --background-index --clang-tidy",
        markers=(_CLANG,),
    ),
    _spec("svelte", ".svelte", "svelteserver --stdio", markers=(_LOCKS,)),
    _spec("astro", ".astro", "astro-ls --stdio", markers=(_LOCKS,)),
    _spec(
        "jdtls",
        ".java",
        "jdtls",
        markers=(_GRADLE[:2], _GRADLE[2:], ("pom.xml",), (".project",)),
    ),
    _spec(
        "kotlin-ls",
        ".kt .kts",
        "kotlin-lsp.sh --stdio",
        "kotlin-lsp --stdio",
        markers=(_GRADLE[:2], _GRADLE[2:], ("pom.xml",)),
    ),
    _spec("yaml-ls", ".yaml .yml", "yaml-language-server --stdio", markers=(_LOCKS,)),
    _spec(
        "lua-ls",
        ".lua",
        "lua-language-server",
        markers=((".luarc.json", ".luarc.jsonc", ".luacheckrc", ".stylua.toml", "stylua.toml"),),
    ),
    _spec(
        "php intelephense",
        ".php",
        "intelephense --stdio",
        markers=(("composer.json", "composer.lock", ".php-version"),),
    ),
    _spec(
        "prisma",
        ".prisma",
        "prisma language-server",
        markers=(("schema.prisma", "prisma"),),
    ),
    _spec(
        "dart",
        ".dart",
        "dart language-server --lsp",
        markers=(("pubspec.yaml", "analysis_options.yaml"),),
    ),
    _spec(
        "ocaml-lsp",
        ".ml .mli",
        "ocamllsp",
        markers=(("dune-project", "dune-workspace", ".merlin", "opam"),),
    ),
    _spec("bash", ".sh .bash .zsh .ksh", "bash-language-server start"),
    _spec(
        "terraform",
        ".tf .tfvars",
        "terraform-ls serve",
        markers=((".terraform.lock.hcl", "terraform.tfstate", "*.tf"),),
    ),
    _spec("texlab", ".tex .bib", "texlab", markers=((".latexmkrc", ".texlabroot"),)),
    _spec("dockerfile", ".dockerfile dockerfile containerfile", "docker-langserver --stdio"),
    _spec("gleam", ".gleam", "gleam lsp", markers=(("gleam.toml",),)),
    _spec(
        "clojure-lsp",
        ".clj .cljs .cljc .edn",
        "clojure-lsp listen",
        markers=(("deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn", "build.boot"),),
    ),
    _spec("nixd", ".nix", "nixd", markers=(("flake.nix",),)),
    _spec("tinymist", ".typ .typc", "tinymist", markers=(("typst.toml",),)),
    _spec(
        "haskell-language-server",
        ".hs .lhs",
        "haskell-language-server-wrapper --lsp",
        markers=(_CABAL,),
    ),
    ServerSpec(
        "julials",
        frozenset({".jl"}),
        (
            (
                *("julia", "--startup-file=no", "--history-file=no", "-e"),
                "using LanguageServer; runserver()",
            ),
        ),
        markers=(("Project.toml", "Manifest.toml"),),
    ),
)

SERVERS: Mapping[str, ServerSpec] = MappingProxyType({spec.id: spec for spec in _ALL})
