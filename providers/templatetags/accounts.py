"""Addresses of pages that exist for a team, a person and the instance alike."""

from __future__ import annotations

from django import template

from providers.views.holders import Holder

register = template.Library()


@register.simple_tag
def account_url(holder: Holder, name: str, **kwargs: object) -> str:
    """Returns: the address of a page of the holder's accounts."""
    return holder.url(name, **kwargs)
