"""Take one team to another server: everything it made, without any secret.

An archive is a tar of files as a backup has them: what the team is (`team.json`), the events of its
sessions (`events.jsonl`), a tar of each project's folder, and a manifest with their hashes.
Whoever wrote it is not trusted: names, hashes, sizes, IDs and events are all checked on the way in.
"""
