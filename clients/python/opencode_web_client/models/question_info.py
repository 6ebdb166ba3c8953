from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.question_option import QuestionOption


T = TypeVar("T", bound="QuestionInfo")


@_attrs_define
class QuestionInfo:
    """Without `multiple` one answer is wanted.

    Attributes:
        header (str):
        options (list[QuestionOption]):
        question (str):
        multiple (bool | Unset):
    """

    header: str
    options: list[QuestionOption]
    question: str
    multiple: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        header = self.header

        options = []
        for options_item_data in self.options:
            options_item = options_item_data.to_dict()
            options.append(options_item)

        question = self.question

        multiple = self.multiple

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "header": header,
                "options": options,
                "question": question,
            }
        )
        if multiple is not UNSET:
            field_dict["multiple"] = multiple

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.question_option import QuestionOption

        d = dict(src_dict)
        header = d.pop("header")

        options = []
        _options = d.pop("options")
        for options_item_data in _options:
            options_item = QuestionOption.from_dict(options_item_data)

            options.append(options_item)

        question = d.pop("question")

        multiple = d.pop("multiple", UNSET)

        question_info = cls(
            header=header,
            options=options,
            question=question,
            multiple=multiple,
        )

        return question_info
