from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.file_content_type import FileContentType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.file_patch import FilePatch


T = TypeVar("T", bound="FileContent")


@_attrs_define
class FileContent:
    """`diff` and `patch` are there when the file is not as it was committed last.

    Attributes:
        content (str):
        type_ (FileContentType):
        diff (str | Unset):
        encoding (Literal['base64'] | Unset):
        mime_type (str | Unset):
        patch (FilePatch | Unset):
    """

    content: str
    type_: FileContentType
    diff: str | Unset = UNSET
    encoding: Literal["base64"] | Unset = UNSET
    mime_type: str | Unset = UNSET
    patch: FilePatch | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        content = self.content

        type_ = self.type_.value

        diff = self.diff

        encoding = self.encoding

        mime_type = self.mime_type

        patch: dict[str, Any] | Unset = UNSET
        if not isinstance(self.patch, Unset):
            patch = self.patch.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "content": content,
                "type": type_,
            }
        )
        if diff is not UNSET:
            field_dict["diff"] = diff
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if mime_type is not UNSET:
            field_dict["mimeType"] = mime_type
        if patch is not UNSET:
            field_dict["patch"] = patch

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.file_patch import FilePatch

        d = dict(src_dict)
        content = d.pop("content")

        type_ = FileContentType(d.pop("type"))

        diff = d.pop("diff", UNSET)

        encoding = cast(Literal["base64"] | Unset, d.pop("encoding", UNSET))
        if encoding != "base64" and not isinstance(encoding, Unset):
            raise ValueError(f"encoding must match const 'base64', got '{encoding}'")

        mime_type = d.pop("mimeType", UNSET)

        _patch = d.pop("patch", UNSET)
        patch: FilePatch | Unset
        if isinstance(_patch, Unset):
            patch = UNSET
        else:
            patch = FilePatch.from_dict(_patch)

        file_content = cls(
            content=content,
            type_=type_,
            diff=diff,
            encoding=encoding,
            mime_type=mime_type,
            patch=patch,
        )

        file_content.additional_properties = d
        return file_content

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
