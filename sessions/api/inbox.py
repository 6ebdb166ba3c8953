from __future__ import annotations

from ninja import Router
from typing_extensions import TypedDict

from opencode_web.lib.errors import NotFound
from sessions.access import access_session
from sessions.actions.inbox import cancel_input, change_input, reorder_inputs
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.api.auth import ApiRequest
from sessions.api.schemas import AdmitBody, InputOrder, InputPatch
from sessions.inbox import pending_inputs, sending_order
from sessions.wire import AdmittedInput, WaitingInput, admitted_to_wire, input_to_wire
from teams.models import Role

router = Router(tags=["inbox"])


class Admitted(TypedDict):
    data: AdmittedInput


@router.post("/api/session/{session_id}/prompt", summary="Admit a prompt and answer before it runs")
def admit(request: ApiRequest, session_id: str, body: AdmitBody) -> Admitted:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    draft = PromptDraft(parts=body.parts(), message_id=body.id, delivery=body.delivery)
    return {"data": admitted_to_wire(admit_prompt(access, draft, resume=body.resume))}


@router.get("/session/{session_id}/input", summary="Prompts that wait, as they will be sent")
def list_inputs(request: ApiRequest, session_id: str) -> list[WaitingInput]:
    session = access_session(request.auth, session_id).session
    return [input_to_wire(row) for row in sending_order(pending_inputs(session.pk))]


# Before the routes of one input, whose paths it looks like.
@router.post("/session/{session_id}/input/order", summary="Put the waiting prompts in this order")
def order_inputs(request: ApiRequest, session_id: str, body: InputOrder) -> list[WaitingInput]:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return [input_to_wire(row) for row in sending_order(reorder_inputs(access, body.ids))]


@router.get("/session/{session_id}/input/{input_id}", summary="One prompt and what became of it")
def get_input(request: ApiRequest, session_id: str, input_id: str) -> WaitingInput:
    session = access_session(request.auth, session_id).session
    rows = session.inputs.select_related("author", "edited_by")
    row = rows.filter(pk=input_id).first()
    if row is None:
        raise NotFound("Prompt", input_id)
    return input_to_wire(row)


@router.patch("/session/{session_id}/input/{input_id}", summary="Change a prompt that waits")
def patch_input(
    request: ApiRequest, session_id: str, input_id: str, body: InputPatch
) -> WaitingInput:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    row = change_input(
        access, input_id, revision=body.revision, text=body.text, delivery=body.delivery
    )
    return input_to_wire(row)


@router.delete("/session/{session_id}/input/{input_id}", summary="Take back a prompt that waits")
def remove_input(request: ApiRequest, session_id: str, input_id: str) -> bool:
    cancel_input(access_session(request.auth, session_id, need=Role.MEMBER), input_id)
    return True
