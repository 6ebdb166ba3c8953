"""Which transforms a model needs, in which order."""

from __future__ import annotations

from collections.abc import Callable

from providers.messages import ProviderKind, ProviderRequest
from providers.transforms.anthropic import (
    drop_unsigned_reasoning,
    offer_a_tool_for_old_calls,
    safe_call_ids,
)
from providers.transforms.history import (
    drop_empty_parts,
    replace_images_the_model_cannot_see,
    replace_lone_surrogates,
    settle_orphan_calls,
)
from providers.transforms.marks import defuse_marks
from providers.transforms.openai import sanitise_tool_schemas

Transform = Callable[[ProviderRequest], ProviderRequest]

_EVERY_MODEL: tuple[Transform, ...] = (
    replace_lone_surrogates,
    defuse_marks,
    replace_images_the_model_cannot_see,
    settle_orphan_calls,
)
_BY_KIND: dict[ProviderKind, tuple[Transform, ...]] = {
    ProviderKind.ANTHROPIC: (drop_unsigned_reasoning, safe_call_ids, offer_a_tool_for_old_calls),
    ProviderKind.OPENAI: (sanitise_tool_schemas,),
    ProviderKind.COMPATIBLE: (sanitise_tool_schemas,),
    ProviderKind.SCRIPTED: (),
}


def apply_transforms(request: ProviderRequest) -> ProviderRequest:
    """Return the request as its provider wants it; the given one is not changed."""
    for transform in (*_EVERY_MODEL, *_BY_KIND[request.model.kind], drop_empty_parts):
        request = transform(request)
    return request
