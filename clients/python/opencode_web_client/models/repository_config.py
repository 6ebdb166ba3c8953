from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.broken_file import BrokenFile
    from ..models.ignored_setting import IgnoredSetting


T = TypeVar("T", bound="RepositoryConfig")


@_attrs_define
class RepositoryConfig:
    """
    Attributes:
        files (list[str]):
        ignored (list[IgnoredSetting]):
        is_trusted (bool):
        problems (list[BrokenFile]):
    """

    files: list[str]
    ignored: list[IgnoredSetting]
    is_trusted: bool
    problems: list[BrokenFile]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        files = self.files

        ignored = []
        for ignored_item_data in self.ignored:
            ignored_item = ignored_item_data.to_dict()
            ignored.append(ignored_item)

        is_trusted = self.is_trusted

        problems = []
        for problems_item_data in self.problems:
            problems_item = problems_item_data.to_dict()
            problems.append(problems_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "files": files,
                "ignored": ignored,
                "isTrusted": is_trusted,
                "problems": problems,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.broken_file import BrokenFile
        from ..models.ignored_setting import IgnoredSetting

        d = dict(src_dict)
        files = cast(list[str], d.pop("files"))

        ignored = []
        _ignored = d.pop("ignored")
        for ignored_item_data in _ignored:
            ignored_item = IgnoredSetting.from_dict(ignored_item_data)

            ignored.append(ignored_item)

        is_trusted = d.pop("isTrusted")

        problems = []
        _problems = d.pop("problems")
        for problems_item_data in _problems:
            problems_item = BrokenFile.from_dict(problems_item_data)

            problems.append(problems_item)

        repository_config = cls(
            files=files,
            ignored=ignored,
            is_trusted=is_trusted,
            problems=problems,
        )

        repository_config.additional_properties = d
        return repository_config

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
