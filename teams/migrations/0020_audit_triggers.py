"""The database links new entries into their chains, and refuses to change or remove entries.

It changes what is personal when the salt is taken away with it, and removes what a checkpoint
says was removed. A migration that rebuilds one of these tables on SQLite, as AlterField does, drops
the triggers: it must run `create` again.
"""

import importlib

from django.db import migrations

_old_entries = importlib.import_module("teams.migrations.0019_chain_old_entries")

_PERSONAL = ("actor_email", "names", "ip", "client", "salt")
_LINK = ("seq", "prev_hash", "hash")
_CONTENT = (
    *("id", "actor_id", "actor_kind", "token", "team_id", "action", "target_type", "target_id"),
    *("data", "time", "personal_hash", "digest"),
)
_REFUSAL = "the audit trail is never changed"

_POSTGRESQL = f"""
CREATE FUNCTION teams_audit_link() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  name text := COALESCE(NEW.team_id, '-');
  head teams_audithead%ROWTYPE;
  link text;
BEGIN
  INSERT INTO teams_audithead (chain, seq, hash, problem) VALUES (name, 0, '', '')
    ON CONFLICT (chain) DO NOTHING;
  SELECT * INTO head FROM teams_audithead WHERE chain = name FOR UPDATE;
  link := name || ':' || (head.seq + 1) || ':' || head.hash || ':' || NEW.digest;
  link := encode(sha256(convert_to(link, 'UTF8')), 'hex');
  UPDATE teams_auditentry SET seq = head.seq + 1, prev_hash = head.hash, hash = link
    WHERE id = NEW.id;
  UPDATE teams_audithead SET seq = head.seq + 1, hash = link WHERE chain = name;
  RETURN NULL;
END $$;
-- At the end of the transaction: the head is locked for the commit alone, after all other locks.
CREATE CONSTRAINT TRIGGER teams_audit_link AFTER INSERT ON teams_auditentry
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION teams_audit_link();

CREATE FUNCTION teams_audit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.seq IS NULL AND
      to_jsonb(NEW) - '{{{",".join(_LINK)}}}'::text[] =
      to_jsonb(OLD) - '{{{",".join(_LINK)}}}'::text[]
    THEN RETURN NEW; END IF;
    IF NEW.salt = '' AND
      to_jsonb(NEW) - '{{{",".join(_PERSONAL)}}}'::text[] =
      to_jsonb(OLD) - '{{{",".join(_PERSONAL)}}}'::text[]
    THEN RETURN NEW; END IF;
  ELSIF TG_OP = 'DELETE' THEN
    IF EXISTS (
      SELECT FROM teams_signedhead
      WHERE is_checkpoint AND chain = COALESCE(OLD.team_id, '-') AND seq >= OLD.seq
    ) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION '{_REFUSAL}';
END $$;
CREATE TRIGGER teams_audit_keep BEFORE UPDATE OR DELETE ON teams_auditentry
  FOR EACH ROW EXECUTE FUNCTION teams_audit_keep();

CREATE FUNCTION teams_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '{_REFUSAL}';
END $$;
CREATE TRIGGER teams_audit_truncate BEFORE TRUNCATE ON teams_auditentry
  FOR EACH STATEMENT EXECUTE FUNCTION teams_audit_refuse();
CREATE TRIGGER teams_signed_head_keep BEFORE UPDATE OR DELETE ON teams_signedhead
  FOR EACH ROW EXECUTE FUNCTION teams_audit_refuse();
CREATE TRIGGER teams_signed_head_truncate BEFORE TRUNCATE ON teams_signedhead
  FOR EACH STATEMENT EXECUTE FUNCTION teams_audit_refuse();
"""

_DROP_POSTGRESQL = """
DROP TRIGGER teams_audit_link ON teams_auditentry;
DROP TRIGGER teams_audit_keep ON teams_auditentry;
DROP TRIGGER teams_audit_truncate ON teams_auditentry;
DROP TRIGGER teams_signed_head_keep ON teams_signedhead;
DROP TRIGGER teams_signed_head_truncate ON teams_signedhead;
DROP FUNCTION teams_audit_link();
DROP FUNCTION teams_audit_keep();
DROP FUNCTION teams_audit_refuse();
"""


def _same(*columns):
    return " AND ".join(f"NEW.{column} IS OLD.{column}" for column in columns)


_CHAIN = "COALESCE(NEW.team_id, '-')"
_HEAD = f"FROM teams_audithead WHERE chain = {_CHAIN}"
# SHA256 is a function that Django gives SQLite. Transactions that write follow one another there.
_SQLITE = {
    "teams_audit_link": f"""
      CREATE TRIGGER teams_audit_link AFTER INSERT ON teams_auditentry BEGIN
        INSERT OR IGNORE INTO teams_audithead (chain, seq, hash, problem)
          VALUES ({_CHAIN}, 0, '', '');
        UPDATE teams_auditentry SET
          seq = (SELECT seq + 1 {_HEAD}),
          prev_hash = (SELECT hash {_HEAD}),
          hash = (SELECT SHA256(chain || ':' || (seq + 1) || ':' || hash || ':' || NEW.digest)
            {_HEAD})
          WHERE id = NEW.id;
        UPDATE teams_audithead SET
          (seq, hash) = (SELECT seq, hash FROM teams_auditentry WHERE id = NEW.id)
          WHERE chain = {_CHAIN};
      END""",
    "teams_audit_keep_changed": f"""
      CREATE TRIGGER teams_audit_keep_changed BEFORE UPDATE ON teams_auditentry
      WHEN NOT (OLD.seq IS NULL AND {_same(*_CONTENT, *_PERSONAL)})
        AND NOT (NEW.salt = '' AND {_same(*_CONTENT, *_LINK)})
      BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
    "teams_audit_keep_removed": f"""
      CREATE TRIGGER teams_audit_keep_removed BEFORE DELETE ON teams_auditentry
      WHEN NOT EXISTS (
        SELECT 1 FROM teams_signedhead
        WHERE is_checkpoint AND chain = COALESCE(OLD.team_id, '-') AND seq >= OLD.seq
      )
      BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
    "teams_signed_head_keep_changed": f"""
      CREATE TRIGGER teams_signed_head_keep_changed BEFORE UPDATE ON teams_signedhead
      BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
    "teams_signed_head_keep_removed": f"""
      CREATE TRIGGER teams_signed_head_keep_removed BEFORE DELETE ON teams_signedhead
      BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
}


def create(apps, editor):
    if editor.connection.vendor == "postgresql":
        # What is written while old servers still run is linked before the triggers are there.
        editor.execute("LOCK TABLE teams_auditentry IN SHARE ROW EXCLUSIVE MODE")
        _old_entries.link_entries(apps, editor)
        editor.execute(_POSTGRESQL, params=None)
    else:
        for statement in _SQLITE.values():
            editor.execute(statement)


def drop(apps, editor):
    if editor.connection.vendor == "postgresql":
        editor.execute(_DROP_POSTGRESQL, params=None)
    else:
        for name in _SQLITE:
            editor.execute(f"DROP TRIGGER {name}")


class Migration(migrations.Migration):
    dependencies = [("teams", "0019_chain_old_entries")]

    operations = [migrations.RunPython(create, drop)]
