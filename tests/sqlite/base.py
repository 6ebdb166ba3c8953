"""SQLite for tests: the database is a copy of one with all migrations."""

from __future__ import annotations

import shutil
from typing import Any

from django.conf import settings
from django.db.backends.sqlite3 import base, creation, operations

from tests.migrated import database, empty


class DatabaseCreation(creation.DatabaseCreation):
    def create_test_db(self, *_: Any, **options: Any) -> str:
        name = str(self._get_test_db_name())
        self.connection.close()
        shutil.copyfile(database(), name)
        settings.DATABASES[self.connection.alias]["NAME"] = name
        self.connection.settings_dict["NAME"] = name
        empty(self.connection)
        return name


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(self, style: Any, tables: Any, **options: Any) -> list[str]:
        return [
            *self._without_guards(),
            "INSERT INTO tests_emptying VALUES (1);",
            *super().sql_flush(style, tables, **options),
            "DELETE FROM agent_sessions_part_text;",
            "DELETE FROM agent_sessions_part_number;",
            "DELETE FROM tests_emptying;",
        ]

    def _without_guards(self) -> list[str]:
        """The audit trail's triggers refuse to delete. Here they do so except between tests.

        To drop and make them again each time would have every connection read the schema anew.
        """
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'tests_emptying'")
            if cursor.fetchone():
                return []
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE '%keep_removed'")
            guards = cursor.fetchall()
        unless = " WHERE NOT EXISTS (SELECT 1 FROM tests_emptying); END"
        return [
            "CREATE TABLE tests_emptying (one integer);",
            *(f"DROP TRIGGER {name};" for name, _ in guards),
            *(sql.replace("; END", unless) for _, sql in guards),
        ]


class DatabaseWrapper(base.DatabaseWrapper):
    creation_class = DatabaseCreation
    ops_class = DatabaseOperations
