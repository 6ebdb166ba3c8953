from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="QuestionOption")


@_attrs_define
class QuestionOption:
    """Field names are the wire's, here and below.

    Attributes:
        description (str):
        label (str):
    """

    description: str
    label: str

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        label = self.label

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "description": description,
                "label": label,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        description = d.pop("description")

        label = d.pop("label")

        question_option = cls(
            description=description,
            label=label,
        )

        return question_option
