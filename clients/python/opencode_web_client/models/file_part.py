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

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.file_part_refused import FilePartRefused
    from ..models.file_part_source import FilePartSource


T = TypeVar("T", bound="FilePart")


@_attrs_define
class FilePart:
    """
    Attributes:
        id (str):
        message_id (str):
        mime (str):
        session_id (str):
        url (str):
        filename (str | Unset):
        refused (FilePartRefused | Unset):
        source (FilePartSource | Unset):
        type_ (Literal['file'] | Unset):  Default: 'file'.
    """

    id: str
    message_id: str
    mime: str
    session_id: str
    url: str
    filename: str | Unset = UNSET
    refused: FilePartRefused | Unset = UNSET
    source: FilePartSource | Unset = UNSET
    type_: Literal["file"] | Unset = "file"

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        message_id = self.message_id

        mime = self.mime

        session_id = self.session_id

        url = self.url

        filename = self.filename

        refused: dict[str, Any] | Unset = UNSET
        if not isinstance(self.refused, Unset):
            refused = self.refused.to_dict()

        source: dict[str, Any] | Unset = UNSET
        if not isinstance(self.source, Unset):
            source = self.source.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "messageID": message_id,
                "mime": mime,
                "sessionID": session_id,
                "url": url,
            }
        )
        if filename is not UNSET:
            field_dict["filename"] = filename
        if refused is not UNSET:
            field_dict["refused"] = refused
        if source is not UNSET:
            field_dict["source"] = source
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.file_part_refused import FilePartRefused
        from ..models.file_part_source import FilePartSource

        d = dict(src_dict)
        id = d.pop("id")

        message_id = d.pop("messageID")

        mime = d.pop("mime")

        session_id = d.pop("sessionID")

        url = d.pop("url")

        filename = d.pop("filename", UNSET)

        _refused = d.pop("refused", UNSET)
        refused: FilePartRefused | Unset
        if isinstance(_refused, Unset):
            refused = UNSET
        else:
            refused = FilePartRefused.from_dict(_refused)

        _source = d.pop("source", UNSET)
        source: FilePartSource | Unset
        if isinstance(_source, Unset):
            source = UNSET
        else:
            source = FilePartSource.from_dict(_source)

        type_ = cast(Literal["file"] | Unset, d.pop("type", UNSET))
        if type_ != "file" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'file', got '{type_}'")

        file_part = cls(
            id=id,
            message_id=message_id,
            mime=mime,
            session_id=session_id,
            url=url,
            filename=filename,
            refused=refused,
            source=source,
            type_=type_,
        )

        return file_part
