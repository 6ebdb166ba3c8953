from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.folder import Folder
    from ..models.model_name import ModelName
    from ..models.revert_v2 import RevertV2
    from ..models.session_time_v2 import SessionTimeV2
    from ..models.tokens_v2 import TokensV2


T = TypeVar("T", bound="SessionV2")


@_attrs_define
class SessionV2:
    """
    Attributes:
        cost (float):
        id (str):
        location (Folder):
        project_id (str):
        time (SessionTimeV2): Units: milliseconds since 1970.
        title (str):
        tokens (TokensV2):
        agent (str | Unset):
        model (ModelName | Unset):
        parent_id (str | Unset):
        revert (RevertV2 | Unset):
        subpath (str | Unset):
    """

    cost: float
    id: str
    location: Folder
    project_id: str
    time: SessionTimeV2
    title: str
    tokens: TokensV2
    agent: str | Unset = UNSET
    model: ModelName | Unset = UNSET
    parent_id: str | Unset = UNSET
    revert: RevertV2 | Unset = UNSET
    subpath: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cost = self.cost

        id = self.id

        location = self.location.to_dict()

        project_id = self.project_id

        time = self.time.to_dict()

        title = self.title

        tokens = self.tokens.to_dict()

        agent = self.agent

        model: dict[str, Any] | Unset = UNSET
        if not isinstance(self.model, Unset):
            model = self.model.to_dict()

        parent_id = self.parent_id

        revert: dict[str, Any] | Unset = UNSET
        if not isinstance(self.revert, Unset):
            revert = self.revert.to_dict()

        subpath = self.subpath

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cost": cost,
                "id": id,
                "location": location,
                "projectID": project_id,
                "time": time,
                "title": title,
                "tokens": tokens,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if model is not UNSET:
            field_dict["model"] = model
        if parent_id is not UNSET:
            field_dict["parentID"] = parent_id
        if revert is not UNSET:
            field_dict["revert"] = revert
        if subpath is not UNSET:
            field_dict["subpath"] = subpath

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.folder import Folder
        from ..models.model_name import ModelName
        from ..models.revert_v2 import RevertV2
        from ..models.session_time_v2 import SessionTimeV2
        from ..models.tokens_v2 import TokensV2

        d = dict(src_dict)
        cost = d.pop("cost")

        id = d.pop("id")

        location = Folder.from_dict(d.pop("location"))

        project_id = d.pop("projectID")

        time = SessionTimeV2.from_dict(d.pop("time"))

        title = d.pop("title")

        tokens = TokensV2.from_dict(d.pop("tokens"))

        agent = d.pop("agent", UNSET)

        _model = d.pop("model", UNSET)
        model: ModelName | Unset
        if isinstance(_model, Unset):
            model = UNSET
        else:
            model = ModelName.from_dict(_model)

        parent_id = d.pop("parentID", UNSET)

        _revert = d.pop("revert", UNSET)
        revert: RevertV2 | Unset
        if isinstance(_revert, Unset):
            revert = UNSET
        else:
            revert = RevertV2.from_dict(_revert)

        subpath = d.pop("subpath", UNSET)

        session_v2 = cls(
            cost=cost,
            id=id,
            location=location,
            project_id=project_id,
            time=time,
            title=title,
            tokens=tokens,
            agent=agent,
            model=model,
            parent_id=parent_id,
            revert=revert,
            subpath=subpath,
        )

        session_v2.additional_properties = d
        return session_v2

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
