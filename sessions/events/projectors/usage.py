from __future__ import annotations

from datetime import datetime

from sessions.events.projectors.rows import Rows
from sessions.events.types import SessionUsed
from teams.models import Basis, UsageEntry


def project_used(rows: Rows, event: SessionUsed, seq: int, time: datetime) -> None:
    session, used = rows.session, event.tokens
    session.cost += event.cost
    if event.basis is Basis.UNPRICED:
        session.is_partly_unpriced = True
    total = session.tokens
    session.tokens = {
        "input": total["input"] + used.input,
        "output": total["output"] + used.output,
        "reasoning": total["reasoning"] + used.reasoning,
        "cache": {
            "read": total["cache"]["read"] + used.cache.read,
            "write": total["cache"]["write"] + used.cache.write,
        },
    }
    if event.context is not None:
        session.context_tokens, session.context_limit = event.context, event.context_limit or 0
        # Pruning says how much is free, too, and names no model.
        session.turn_steps += event.model_id is not None
    if event.model_id is None:
        event = _named(rows, event)
    if event.model_id is not None:
        rows.put_usage(_entry(rows, event, seq, time))


def _entry(rows: Rows, event: SessionUsed, seq: int, time: datetime) -> UsageEntry:
    session, used = rows.session, event.tokens
    return UsageEntry(
        id=f"{session.pk}.{seq}",
        team_id=session.project.team_id,
        user_id=event.author_id,
        session=session.pk,
        project=session.project_id,
        prompt=event.prompt_id or "",
        provider=event.provider_id or "",
        model=event.model_id or "",
        api_model=event.api_model or "",
        input=used.input,
        output=used.output,
        reasoning=used.reasoning,
        cache_read=used.cache.read,
        cache_write=used.cache.write,
        cost=event.cost,
        basis=event.basis or Basis.COUNTED,
        time=time,
    )


def _named(rows: Rows, event: SessionUsed) -> SessionUsed:
    """An older event: it belongs to the newest answer. One that says only how much is free is none.

    Migration 0043 does the same for logs that were there before the rows.
    """
    used = event.tokens
    counts = (used.input, used.output, used.reasoning, used.cache.read, used.cache.write)
    if not event.cost and not any(counts):
        return event
    answer = rows.newest_answer()
    if answer is None:
        return event.model_copy(update={"model_id": "", "author_id": rows.session.owner_id})
    prompt = rows.message(answer.data["parentID"])
    return event.model_copy(
        update={
            "provider_id": answer.data["providerID"],
            "model_id": answer.data["modelID"],
            "prompt_id": answer.data["parentID"],
            "author_id": prompt.author_id if prompt else rows.session.owner_id,
        }
    )
