"""SQLite for tests: the database is a copy of one with all migrations."""

from __future__ import annotations

import shutil
from typing import Any

from django.conf import settings
from django.db.backends.sqlite3 import base, creation

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


class DatabaseWrapper(base.DatabaseWrapper):
    creation_class = DatabaseCreation
