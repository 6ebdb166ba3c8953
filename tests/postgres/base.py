"""PostgreSQL for tests: emptying the tables between tests takes milliseconds instead of seconds.

The database is a copy of one with all migrations. TRUNCATE makes new files for every table and
index. The tables of a test hold a few rows, and deleting those is a hundred times as fast.
"""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base, creation, operations

from tests.migrated import empty, template


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(self, style: Any, tables: Any, **options: Any) -> list[str]:
        if not tables:
            return []
        deletes = "".join(f"DELETE FROM {self.quote_name(table)};" for table in tables)
        # The order of the foreign keys does not matter while triggers are off. One statement for
        # all of them is one way to the server and back.
        return [f"SET session_replication_role = replica; {deletes} RESET session_replication_role"]


class DatabaseCreation(creation.DatabaseCreation):
    def create_test_db(self, *_: Any, **options: Any) -> str:
        name = str(self._get_test_db_name())
        made = template(os.environ["DATABASE_URL"])
        with self._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
            cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{made}"')
        self.connection.close()
        settings.DATABASES[self.connection.alias]["NAME"] = name
        self.connection.settings_dict["NAME"] = name
        empty(self.connection)
        return name

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        # Someone's thread may still end; its connection must not fail a test that had none.
        with self._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{test_database_name}" WITH (FORCE)')


class DatabaseWrapper(base.DatabaseWrapper):
    creation_class = DatabaseCreation
    ops_class = DatabaseOperations
