from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

from tests.architecture.sources import ROOMS, ROOT

MIGRATIONS = sorted(
    path
    for room in ROOMS
    for path in (ROOT / room).glob("migrations/*.py")
    if path.name != "__init__.py"
)


@pytest.mark.django_db
def test_the_models_need_no_further_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_every_app_has_one_last_migration() -> None:
    assert MigrationLoader(None, ignore_no_migrations=True).detect_conflicts() == {}


def test_none_follows_a_squashed_one() -> None:
    """A database that is upgraded step by step has them by the ones that were replaced."""
    found = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    squashed = {key for key, migration in found.items() if migration.replaces}
    following = {key for key, one in found.items() if squashed.intersection(one.dependencies)}
    assert following == set(), "let them depend on the last one that was replaced"


def test_a_migration_has_a_name_that_a_person_gave_it(subtests: pytest.Subtests) -> None:
    for path in MIGRATIONS:
        with subtests.test(path=path):
            assert "_auto_" not in path.stem
