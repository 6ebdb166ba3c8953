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
        # The audit trail's refuse it.
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
        return [
            *(f"DROP TRIGGER {name};" for name, _ in triggers),
            *super().sql_flush(style, tables, **options),
            *(sql for _, sql in triggers),
        ]


class DatabaseWrapper(base.DatabaseWrapper):
    creation_class = DatabaseCreation
    ops_class = DatabaseOperations
