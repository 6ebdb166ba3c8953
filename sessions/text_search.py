"""Find what was said in the sessions of a team, or in one, by the database's full-text index.

Every word has to be there, the last one as a beginning. What is rolled back is not found. The
indices are made by the migration `0034_text_search`; their expressions stand here once more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any  # values of a query

from django.db import connection
from django.db.models import QuerySet

from opencode_web.lib.json import JsonObject, object_of, text_of
from sessions.models import Part, Session
from teams.models import Team

MAX_QUERY_CHARS = 200
_MAX_WORDS = 8
_MAX_WORD_CHARS = 60
# What is rated; of a word that is everywhere these are the newest on SQLite, and any on PostgreSQL.
# Rating one costs PostgreSQL about a fifth of a millisecond.
_CANDIDATES = 500
# Of one session's commands; reading one takes SQLite some hundredths of a millisecond.
_MAX_OUTPUTS = 500
# Shorter ones begin too many words.
_MIN_BEGINNING_CHARS = 2
_WORD = re.compile(r"[^\W_]+")
_EXCERPT_CHARS = 90
# Of Markdown, what is drawn and not read.
_MARKS = re.compile(r"\*\*|`+|^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+", re.MULTILINE)

_VISIBLE = """
    p.session_id = s.id AND s.project_id = j.id AND j.team_id = %s
    AND (s.hidden_from IS NULL OR p.seq < s.hidden_from)
"""
# What comes after it for one session, with its id.
_ONLY = " AND s.id = %s"
_POSTGRESQL = f"""
    SELECT id FROM (
        SELECT p.id, p.seq, s.updated_at,
            ts_rank(to_tsvector('simple', left(p.data->>'text', 100000)), query) AS rate
        FROM agent_sessions_part p, agent_sessions_session s, agent_sessions_project j,
            to_tsquery('simple', %s) query
        WHERE to_tsvector('simple', left(p.data->>'text', 100000)) @@ query AND p.type = 'text'
            AND (p.data->'time' IS NULL OR p.data->'time'->'end' IS NOT NULL)
            AND p.data->'synthetic' IS NULL AND {_VISIBLE} {{only}}
        LIMIT {_CANDIDATES}
    ) found
    ORDER BY rate DESC, updated_at DESC, seq DESC LIMIT %s
"""  # noqa: S608 - only constants are put in
_SQLITE = f"""
    SELECT id FROM (
        SELECT p.id, p.seq, s.updated_at, t.rank AS rate
        FROM agent_sessions_part_text t, agent_sessions_part_number n, agent_sessions_part p,
            agent_sessions_session s, agent_sessions_project j
        WHERE t.agent_sessions_part_text MATCH %s AND n.id = t.rowid AND p.id = n.part_id
            AND json_extract(p.data, '$.synthetic') IS NULL AND {_VISIBLE} {{only}}
        ORDER BY t.rowid DESC LIMIT {_CANDIDATES}
    )
    ORDER BY rate, updated_at DESC, seq DESC LIMIT %s
"""  # noqa: S608 - as above


@dataclass(frozen=True)
class ExcerptPiece:
    """Of an excerpt. `hit`: it is what was looked for."""

    text: str
    hit: bool = False


@dataclass(frozen=True)
class FoundText:
    """A text that fits. `prompt` is the message that its turn begins with."""

    session: str
    message: str
    part: str
    prompt: str
    pieces: list[ExcerptPiece]


def words_of(query: str) -> list[str]:
    """Returns: the words of what somebody typed, as far as they are looked for."""
    found = _WORD.findall(query[:MAX_QUERY_CHARS].replace("\0", " "))
    return [word[:_MAX_WORD_CHARS].lower() for word in found[:_MAX_WORDS]]


def find_said(
    team: Team, query: str, *, among: QuerySet[Session] | None = None, limit: int = 40
) -> list[FoundText]:
    """Returns: the texts of the team's sessions, or of those `among` them, that fit best, the best
    first."""
    words = words_of(query)
    ids = _ids(words, team.pk, _condition(among), limit=limit)
    parts = Part.objects.select_related("message").in_bulk(ids)
    return [_said(parts[one], words) for one in ids if one in parts]


def _condition(among: QuerySet[Session] | None) -> tuple[str, Sequence[Any]]:
    if among is None:
        return "", ()
    rows, values = among.order_by().values("pk").query.sql_with_params()
    return f" AND s.id IN ({rows})", values


def find_said_in(session: Session, query: str, *, limit: int) -> list[FoundText]:
    """`session.project` should be loaded.

    Returns: its texts that fit, and the newest outputs of commands, in their order.
    """
    words = words_of(query)
    ids = _ids(words, session.project.team_id, (_ONLY, (session.pk,)), limit=limit)
    ids += _outputs(session, words)[: limit - len(ids)]
    parts = Part.objects.select_related("message").filter(pk__in=ids)
    return [_said(part, words) for part in parts.order_by("message__seq", "seq", "pk")]


def _outputs(session: Session, words: Sequence[str]) -> list[str]:
    """No index has them. Returns: ids of the parts, the newest first."""
    if not words:
        return []
    commands = session.parts.filter(type="tool", data__tool="bash")
    if session.hidden_from is not None:
        commands = commands.filter(seq__lt=session.hidden_from)
    newest = list(commands.order_by("-seq").values_list("pk", flat=True)[:_MAX_OUTPUTS])
    found = session.parts.filter(pk__in=newest)
    for word in words:
        found = found.filter(data__state__output__icontains=word)
    return list(found.order_by("-seq").values_list("pk", flat=True))


def _ids(
    words: Sequence[str],
    team_id: str,
    only: tuple[str, Sequence[Any]] = ("", ()),
    *,
    limit: int,
) -> list[str]:
    """`only`: a condition and its values. Returns: the ids of the parts that fit best, the best
    first."""
    if not words:
        return []
    is_sqlite = connection.vendor == "sqlite"
    quote, glue, beginning = ('"', " ", "*") if is_sqlite else ("'", " & ", ":*")
    asked = glue.join(f"{quote}{word}{quote}" for word in words)
    if len(words[-1]) >= _MIN_BEGINNING_CHARS:
        asked += beginning
    query = (_SQLITE if is_sqlite else _POSTGRESQL).format(only=only[0])
    with connection.cursor() as cursor:
        cursor.execute(query, [asked, team_id, *only[1], limit])
        return [row[0] for row in cursor.fetchall()]


def _said(part: Part, words: Sequence[str]) -> FoundText:
    info: JsonObject = part.message.data
    parent = info.get("parentID")
    prompt = parent if isinstance(parent, str) else part.message_id
    output = text_of(object_of(part.data, "state"), "output")
    text = output if part.type == "tool" else text_of(part.data, "text")
    return FoundText(part.session_id, part.message_id, part.pk, prompt, excerpt(text, words))


def excerpt(text: str, words: Sequence[str]) -> list[ExcerptPiece]:
    """Returns: in pieces, what stands around the words where they follow each other, else around
    the first that is found, else the start."""
    literal = [re.escape(word) for word in words]
    phrase, any_word = (
        re.compile(one, re.IGNORECASE) for one in (r"[\W_]+".join(literal), "|".join(literal))
    )
    first = phrase.search(text)
    look = phrase if first else any_word
    first = first or any_word.search(text)
    middle = first.start() if first else 0
    start, end = max(0, middle - _EXCERPT_CHARS), middle + 2 * _EXCERPT_CHARS
    shown = ("…" if start else "") + " ".join(_MARKS.sub("", text[start:end]).split())
    shown += "…" if end < len(text) else ""
    pieces, at = [], 0
    for hit in look.finditer(shown):
        pieces += [ExcerptPiece(shown[at : hit.start()]), ExcerptPiece(hit[0], hit=True)]
        at = hit.end()
    return [piece for piece in (*pieces, ExcerptPiece(shown[at:])) if piece.text]
