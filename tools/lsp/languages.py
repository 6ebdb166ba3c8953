"""The names that the protocol has for languages, by the ending of a file's name.

Source: LSP 3.17, "Text Document Item".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

# name: endings
_TABLE = """
bibtex: .bib
c: .c .h
clojure: .clj .cljs .cljc .edn
cpp: .cpp .cc .cxx .c++ .hpp .hh .hxx .h++
csharp: .cs .csx
elixir: .ex .exs
fsharp: .fs .fsi .fsx .fsscript
graphql: .graphql .gql
haskell: .hs .lhs
javascript: .js .mjs .cjs
javascriptreact: .jsx
julia: .jl
kotlin: .kt .kts
latex: .tex
objective-c: .m
objective-cpp: .mm
ocaml: .ml
ocaml.interface: .mli
python: .py .pyi
aspnetcorerazor: .razor .cshtml
ruby: .rb .rake .gemspec .ru
rust: .rs
shellscript: .sh .bash .zsh .ksh
terraform: .tf
terraform-vars: .tfvars
typescript: .ts .mts .cts
typescriptreact: .tsx
typst: .typ .typc
yaml: .yaml .yml
"""

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        ending: name
        for line in _TABLE.strip().splitlines()
        for name, endings in [line.split(": ")]
        for ending in endings.split()
    }
)


def language_of(path: PurePath) -> str:
    """Name the language of a file. One whose name is its ending, like lua, needs no entry."""
    if path.name.lower() in {"dockerfile", "containerfile"}:
        return "dockerfile"
    ending = path.suffix.lower()
    return _NAMES.get(ending) or ending.removeprefix(".") or "plaintext"
