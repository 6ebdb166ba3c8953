from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.file_search_dirs import FileSearchDirs
from ..models.file_search_type_type_0 import FileSearchTypeType0
from ..types import UNSET, Unset

T = TypeVar("T", bound="FileSearch")


@_attrs_define
class FileSearch:
    """
    Attributes:
        query (str):
        dirs (FileSearchDirs | Unset):  Default: FileSearchDirs.TRUE.
        limit (int | Unset):  Default: 100.
        type_ (FileSearchTypeType0 | None | Unset):
    """

    query: str
    dirs: FileSearchDirs | Unset = FileSearchDirs.TRUE
    limit: int | Unset = 100
    type_: FileSearchTypeType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        query = self.query

        dirs: str | Unset = UNSET
        if not isinstance(self.dirs, Unset):
            dirs = self.dirs.value

        limit = self.limit

        type_: None | str | Unset
        if isinstance(self.type_, Unset):
            type_ = UNSET
        elif isinstance(self.type_, FileSearchTypeType0):
            type_ = self.type_.value
        else:
            type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "query": query,
            }
        )
        if dirs is not UNSET:
            field_dict["dirs"] = dirs
        if limit is not UNSET:
            field_dict["limit"] = limit
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        query = d.pop("query")

        _dirs = d.pop("dirs", UNSET)
        dirs: FileSearchDirs | Unset
        if isinstance(_dirs, Unset):
            dirs = UNSET
        else:
            dirs = FileSearchDirs(_dirs)

        limit = d.pop("limit", UNSET)

        def _parse_type_(data: object) -> FileSearchTypeType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                type_type_0 = FileSearchTypeType0(data)

                return type_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FileSearchTypeType0 | None | Unset, data)

        type_ = _parse_type_(d.pop("type", UNSET))

        file_search = cls(
            query=query,
            dirs=dirs,
            limit=limit,
            type_=type_,
        )

        file_search.additional_properties = d
        return file_search

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
