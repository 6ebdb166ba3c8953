from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CacheTokens")


@_attrs_define
class CacheTokens:
    """
    Attributes:
        read (int | Unset):  Default: 0.
        write (int | Unset):  Default: 0.
    """

    read: int | Unset = 0
    write: int | Unset = 0

    def to_dict(self) -> dict[str, Any]:
        read = self.read

        write = self.write

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if read is not UNSET:
            field_dict["read"] = read
        if write is not UNSET:
            field_dict["write"] = write

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        read = d.pop("read", UNSET)

        write = d.pop("write", UNSET)

        cache_tokens = cls(
            read=read,
            write=write,
        )

        return cache_tokens
