"""Which tools a model gets: some are for some models only, some have to be switched on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Two ways to change files; a model gets the one that it was trained on.
_PATCHING = frozenset({"apply_patch"})
_EDITING = frozenset({"edit", "write", "multiedit"})


@dataclass(frozen=True)
class Features:
    """What is switched on where a session works. Each but `plan` needs something to be set up."""

    plan: bool = True
    batch: bool = False
    lsp: bool = False
    websearch: bool = False
    codesearch: bool = False
    review: bool = False

    def has(self, tool: str) -> bool:
        """Tell whether a tool is switched on. Most need no switch."""
        feature = _FEATURE_OF.get(tool)
        return feature is None or bool(getattr(self, feature))


_FEATURE_OF: Mapping[str, str] = MappingProxyType(
    {
        "plan_enter": "plan",
        "plan_exit": "plan",
        "batch": "batch",
        "lsp": "lsp",
        "websearch": "websearch",
        "codesearch": "codesearch",
        "review": "review",
    }
)


def unsuitable_for(model_id: str) -> frozenset[str]:
    """Returns: the tools that this model does not get; `model_id` is what its provider knows.

    Source: behaviour facts 1.0. GPT-5 and later change files by patches, open weights and GPT-4 by
    edits like everybody else's models.
    """
    name = model_id.lower()
    patches = "gpt-" in name and "oss" not in name and "gpt-4" not in name
    return _EDITING if patches else _PATCHING
