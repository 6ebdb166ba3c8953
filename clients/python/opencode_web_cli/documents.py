"""`export` and `import`: a session as one JSON document."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from opencode_web_cli.connection import Connection
from opencode_web_cli.failures import Code, Failure


def export_session(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure."""
    with connection.stream(f"/session/{options.session}/export") as answer:
        if options.output is None:
            for piece in answer.iter_bytes():
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return Code.OK
        target = Path(options.output)
        # Whole or not at all: half a document looks like a whole one.
        partial = target.with_name(f"{target.name}.part")
        try:
            with partial.open("wb") as file:
                for piece in answer.iter_bytes():
                    file.write(piece)
            partial.replace(target)
        except OSError as exc:
            raise Failure(f"{target} cannot be written: {exc.strerror}") from exc
        finally:
            partial.unlink(missing_ok=True)
    print(f"Written to {target}", file=sys.stderr)
    return Code.OK


def import_session(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure."""
    try:
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text("utf-8")
        document = json.loads(text)
    except OSError as exc:
        raise Failure(f"{options.file} cannot be read: {exc.strerror}", Code.USAGE) from exc
    except ValueError as exc:
        raise Failure(f"{options.file} is no exported session: {exc}", Code.USAGE) from exc
    if not isinstance(document, dict) or not {"info", "messages"} <= document.keys():
        raise Failure(f"{options.file} is no exported session.", Code.USAGE)
    body = {"info": document["info"], "messages": document["messages"]}
    print(connection.call("POST", "/session/import", body=body)["id"])
    return Code.OK
