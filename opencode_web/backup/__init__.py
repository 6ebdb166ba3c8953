"""Back up this installation while it runs, and restore it.

A backup is a folder: the database, two archives of files, and a manifest that is written last.

1. The removal of files is held off (`lib.removals`).
2. The database is copied as of one moment, the watermark (`databases`, `postgres`).
3. The files are archived (`archive`). What the database names at the watermark is among them, since
   files are written before the rows that name them.

A restore reads the same in the other order. It unpacks everything beside what is there (`unpack`),
and then puts the new in the place of the old (`restore`).
"""
