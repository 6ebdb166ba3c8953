"""Change a request so that the model's provider accepts it. Pure functions from request to request.

`apply_transforms` picks them by the model and applies them in order; encoding to the wire comes
after.
"""

from __future__ import annotations

from providers.transforms.pick import apply_transforms

__all__ = ["apply_transforms"]
