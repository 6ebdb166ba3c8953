"""The fragments of a session page as text, for those who watch. None depends on who that is."""

from __future__ import annotations

from collections.abc import Sequence

from django.template.loader import render_to_string

from sessions.models import Session
from sessions.present.changes.entries import Changed
from sessions.present.changes.rollback import load_reverted
from sessions.present.conversation.blocks import Block
from sessions.present.conversation.docks import load_cards, load_queue
from sessions.present.conversation.history import Waiting, Window
from sessions.present.conversation.items import Item
from sessions.present.conversation.todos import load_todo_dock
from sessions.present.conversation.turns import Turn
from sessions.present.frame.composer import session_agents
from sessions.present.frame.people import Person, build_onlookers
from sessions.present.place import Place
from sessions.present.pulls import PullLine
from sessions.present.sessions import Header, Row


def render_turn(turn: Turn) -> str:
    return render_to_string("sessions/_turn.html", {"turn": turn})


def render_footer(turn: Turn) -> str:
    return render_to_string("sessions/_turn_footer.html", {"id": turn.id, "footer": turn.footer})


def render_item(item: Item) -> str:
    context = {"part": item.part, "row": item.row, "group": item.group}
    return render_to_string(item.template, context)


def render_turns(session: Session, window: Window) -> str:
    """A stretch of the conversation, with the way to what is before it."""
    earlier = window.before and {"url": f"{Place.of(session).url('turns')}?before={window.before}"}
    return render_to_string("sessions/turns.html", {"earlier": earlier, "turns": window.turns})


def render_reverted(session: Session) -> str:
    return render_to_string("sessions/_reverted.html", {"reverted": load_reverted(session)})


def render_header_part(name: str, header: Header) -> str:
    """`name`: title, rename_title, status, meter, context_use, context_cost or send."""
    return render_to_string(f"sessions/_{name}.html", {"session": header})


def render_block(block: Block | None) -> str:
    return render_to_string("sessions/_block.html", {"hindrance": block})


def render_presence(people: list[Person]) -> str:
    onlookers = build_onlookers(people)
    return render_to_string("sessions/_presence.html", {"onlookers": onlookers})


def render_permissions(session: Session, waiting: Sequence[Waiting]) -> str:
    """The cards of everything that waits, oldest first."""
    return "".join(
        render_to_string(card.template, {"permission": card, "question": card})
        for card in load_cards(session, waiting)
    )


def render_todos(session: Session) -> str:
    return render_to_string("sessions/_todos.html", {"todos": load_todo_dock(session)})


def render_agents(session: Session) -> str:
    context = {"agents": session_agents(session)}
    return render_to_string("sessions/_composer_agent.html", context)


def render_queue(session: Session) -> str:
    return render_to_string("sessions/_queue.html", {"queue": load_queue(session)})


def render_changes_mark(changed: Changed) -> str:
    """Says that the changes are others now, not which."""
    context = {"mark": changed.mark, "count": changed.count}
    return render_to_string("sessions/_changes_mark.html", context)


def render_count(name: str, count: int) -> str:
    return render_to_string("sessions/_changes_count.html", {"id": name, "count": count})


def render_row(row: Row) -> str:
    return render_to_string("sessions/_session_row.html", {"row": row})


def render_pull(id: str, pull: PullLine) -> str:
    return render_to_string("sessions/_pull.html", {"id": id, "pull": pull})


def render_card(row: Row) -> str:
    return render_to_string("sessions/_session_card.html", {"row": row})
