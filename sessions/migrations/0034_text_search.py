"""Full text of what people and models have said.

The database keeps it up to date by itself, so that no writer can forget it: PostgreSQL by an index
over an expression, SQLite by triggers on the table of parts. It holds texts that are finished, and
of each at most the first 100,000 characters.

A later migration that makes the table of parts anew on SQLite has to make the triggers again; a
test of the search fails until it does.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

_ON_POSTGRESQL = (
    """
    CREATE INDEX part_text_search ON agent_sessions_part
    USING gin (to_tsvector('simple', left(data->>'text', 100000)))
    WHERE type = 'text' AND (data->'time' IS NULL OR data->'time'->'end' IS NOT NULL)
    """,
)
_OFF_POSTGRESQL = ("DROP INDEX part_text_search",)

_SAID = """{0}.type = 'text'
    AND (json_extract({0}.data, '$.time') IS NULL
         OR json_extract({0}.data, '$.time.end') IS NOT NULL)"""
# Rows of the full-text table have numbers, which those of parts keep for as long as they exist.
_PUT = """
    INSERT INTO agent_sessions_part_number (part_id)
    SELECT {0}.id WHERE NOT EXISTS
        (SELECT 1 FROM agent_sessions_part_number WHERE part_id = {0}.id);
    DELETE FROM agent_sessions_part_text WHERE rowid =
        (SELECT id FROM agent_sessions_part_number WHERE part_id = {0}.id);
    INSERT INTO agent_sessions_part_text (rowid, text)
    SELECT id, substr(json_extract({0}.data, '$.text'), 1, 100000)
    FROM agent_sessions_part_number WHERE part_id = {0}.id;
"""
_ON_SQLITE = (
    "CREATE TABLE agent_sessions_part_number"
    " (id integer PRIMARY KEY, part_id varchar(60) NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE agent_sessions_part_text"
    " USING fts5(text, tokenize = 'unicode61 remove_diacritics 0')",
    f"CREATE TRIGGER part_text_new AFTER INSERT ON agent_sessions_part"
    f" WHEN {_SAID.format('new')} BEGIN {_PUT.format('new')} END",
    f"CREATE TRIGGER part_text_changed AFTER UPDATE OF data ON agent_sessions_part"
    f" WHEN {_SAID.format('new')} BEGIN {_PUT.format('new')} END",
    """
    CREATE TRIGGER part_text_gone AFTER DELETE ON agent_sessions_part WHEN old.type = 'text' BEGIN
        DELETE FROM agent_sessions_part_text WHERE rowid =
            (SELECT id FROM agent_sessions_part_number WHERE part_id = old.id);
        DELETE FROM agent_sessions_part_number WHERE part_id = old.id;
    END
    """,
    # Fills it with what is there.
    "UPDATE agent_sessions_part SET data = data WHERE type = 'text'",
)
_OFF_SQLITE = (
    "DROP TRIGGER part_text_new",
    "DROP TRIGGER part_text_changed",
    "DROP TRIGGER part_text_gone",
    "DROP TABLE agent_sessions_part_text",
    "DROP TABLE agent_sessions_part_number",
)


def _make(apps: Any, schema_editor: Any) -> None:
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in _ON_SQLITE if is_sqlite else _ON_POSTGRESQL:
        schema_editor.execute(statement)


def _drop(apps: Any, schema_editor: Any) -> None:
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in _OFF_SQLITE if is_sqlite else _OFF_POSTGRESQL:
        schema_editor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0033_terminal_watchable'),
    ]

    operations = [
        migrations.RunPython(_make, _drop),
    ]
