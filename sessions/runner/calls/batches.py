"""The calls of a batch, as calls of their own beside it in the same answer.

They are there before the batch is completed. The step then goes on with them, so each asks, waits,
is stopped and survives a lost worker like any other; none that is done is ever run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from opencode_web.lib.ids import new_id
from sessions.events.parts import ToolPart, ToolPending
from sessions.events.store import append, lock_session
from sessions.events.types import PartUpdated
from sessions.models import Message, Part
from sessions.rules.in_force import Setup
from sessions.runner.calls.guards import inner_id
from sessions.runner.calls.repairs import invalid_call
from sessions.runner.log.held_inputs import hold_input
from sessions.runner.log.lease import Lease
from sessions.runner.log.settle import fail_call
from sessions.secrets import key_redactor
from tools.context import InnerCall
from tools.registry import offered_tools
from tools.repair import repair_unknown


@transaction.atomic
def begin_calls(lease: Lease, part: ToolPart, calls: Sequence[InnerCall], setup: Setup) -> None:
    """Append the calls of the batch `part`, unless an earlier run of it has.

    Raises: SessionGone; LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    begun = Part.objects.filter(message=part.messageID, data__metadata__batch=part.callID)
    if begun.exists():
        return
    names = _offered(part, setup)
    redactor = key_redactor(session.project)
    events = [_event(part, number, call, names) for number, call in enumerate(calls, 1)]
    for event in events:
        made = event.part
        if isinstance(made, ToolPart) and isinstance(made.state, ToolPending):
            given = made.state.input
            if redactor.json(given, keys=False) is not given:
                hold_input(made, given)
    append(session, events)


def _offered(part: ToolPart, setup: Setup) -> Mapping[str, str]:
    """Returns: the built-in tools that the model may call, by their names in lower case."""
    answer = Message.objects.get(pk=part.messageID)
    tools = offered_tools(
        setup.ruleset,
        model_id=str(answer.data["modelID"]),
        features=setup.config.features(),
    )
    return {tool.name.lower(): tool.name for tool in tools}


def _event(part: ToolPart, number: int, call: InnerCall, names: Mapping[str, str]) -> PartUpdated:
    # The metadata says which batch made it.
    name = names.get(call.tool.lower())
    inner = ToolPart(
        id=new_id("prt"),
        sessionID=part.sessionID,
        messageID=part.messageID,
        callID=inner_id(part.callID, number),
        tool=name or call.tool,
        state=ToolPending(input=dict(call.arguments)),
        metadata={"batch": part.callID},
    )
    if call.refusal:
        return fail_call(inner, call.refusal)
    if name is None:
        offered = sorted(names.values())
        inner = invalid_call(inner, repair_unknown(call.tool, offered=offered))
    return PartUpdated(part=inner)
