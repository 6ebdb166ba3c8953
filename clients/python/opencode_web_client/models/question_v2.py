from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.asked_v2 import AskedV2


T = TypeVar("T", bound="QuestionV2")


@_attrs_define
class QuestionV2:
    """
    Attributes:
        id (str):
        questions (list[AskedV2]):
        session_id (str):
    """

    id: str
    questions: list[AskedV2]
    session_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        session_id = self.session_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "questions": questions,
                "sessionID": session_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.asked_v2 import AskedV2

        d = dict(src_dict)
        id = d.pop("id")

        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = AskedV2.from_dict(questions_item_data)

            questions.append(questions_item)

        session_id = d.pop("sessionID")

        question_v2 = cls(
            id=id,
            questions=questions,
            session_id=session_id,
        )

        question_v2.additional_properties = d
        return question_v2

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
