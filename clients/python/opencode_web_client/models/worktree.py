from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.worktree_base import WorktreeBase
    from ..models.worktree_result import WorktreeResult


T = TypeVar("T", bound="Worktree")


@_attrs_define
class Worktree:
    """
    Attributes:
        ahead (int):
        base (WorktreeBase):
        behind (int):
        branch (str):
        detail (str):
        directory (str):
        dirty (int):
        job (str):
        name (str):
        result (WorktreeResult):
        state (str):
        session_id (str | Unset):
    """

    ahead: int
    base: WorktreeBase
    behind: int
    branch: str
    detail: str
    directory: str
    dirty: int
    job: str
    name: str
    result: WorktreeResult
    state: str
    session_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ahead = self.ahead

        base = self.base.to_dict()

        behind = self.behind

        branch = self.branch

        detail = self.detail

        directory = self.directory

        dirty = self.dirty

        job = self.job

        name = self.name

        result = self.result.to_dict()

        state = self.state

        session_id = self.session_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ahead": ahead,
                "base": base,
                "behind": behind,
                "branch": branch,
                "detail": detail,
                "directory": directory,
                "dirty": dirty,
                "job": job,
                "name": name,
                "result": result,
                "state": state,
            }
        )
        if session_id is not UNSET:
            field_dict["sessionID"] = session_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.worktree_base import WorktreeBase
        from ..models.worktree_result import WorktreeResult

        d = dict(src_dict)
        ahead = d.pop("ahead")

        base = WorktreeBase.from_dict(d.pop("base"))

        behind = d.pop("behind")

        branch = d.pop("branch")

        detail = d.pop("detail")

        directory = d.pop("directory")

        dirty = d.pop("dirty")

        job = d.pop("job")

        name = d.pop("name")

        result = WorktreeResult.from_dict(d.pop("result"))

        state = d.pop("state")

        session_id = d.pop("sessionID", UNSET)

        worktree = cls(
            ahead=ahead,
            base=base,
            behind=behind,
            branch=branch,
            detail=detail,
            directory=directory,
            dirty=dirty,
            job=job,
            name=name,
            result=result,
            state=state,
            session_id=session_id,
        )

        worktree.additional_properties = d
        return worktree

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
