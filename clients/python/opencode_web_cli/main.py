"""The arguments of every command."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from opencode_web_cli import documents, lists, others
from opencode_web_cli.connection import Connection, connect
from opencode_web_cli.embedded import embedded_server
from opencode_web_cli.failures import Code, Failure
from opencode_web_cli.printing import plain
from opencode_web_cli.results import write_failure
from opencode_web_cli.run import run

PORT = 4096
_EPILOG = (
    "The server and who you are come from OPENCODE_WEB_URL, OPENCODE_WEB_TOKEN, "
    "OPENCODE_WEB_PROJECT and OPENCODE_WEB_EMAIL, or from options. Exit codes: 0 done, 1 failed, "
    "2 wrong arguments, 3 something was refused because nobody could allow it, 4 over the limit of "
    "the cost, 124 out of time, 130 interrupted."
)
Action = Callable[[Connection, Namespace], Code]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns: the exit code."""
    options = build_parser().parse_args(arguments)
    try:
        if options.alone is not None:
            code: Code = options.alone(options)
        else:
            with open_server(options) as connection:
                code = options.action(connection, options)
        sys.stdout.flush()
    except Failure as exc:
        # It may be in the words of a server, or of what a model named.
        print(f"Error: {plain(str(exc))}", file=sys.stderr)
        _keep(exc, options)
        return exc.code
    except KeyboardInterrupt:
        return Code.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has enough. Python would complain when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Code.FAILED
    return code


def _keep(failure: Failure, options: Namespace) -> None:
    if not getattr(options, "results", None):
        return
    try:
        write_failure(Path(options.results), failure)
    except Failure as exc:
        print(f"Error: {plain(str(exc))}", file=sys.stderr)


@contextmanager
def open_server(options: Namespace) -> Iterator[Connection]:
    """The server that the options name, or one for this run. Raises: Failure."""
    folder = getattr(options, "embedded", None)
    if folder is not None:
        with embedded_server(folder, model=options.model, max_cost=options.max_cost) as connection:
            yield connection
        return
    connection = connect(options.url, options.token, options.project)
    with connection.client:
        yield connection


def build_parser() -> ArgumentParser:
    """The parser of the command line; `action` or `alone` of its result carries it out."""
    parser = ArgumentParser(prog="opencode-web", epilog=_EPILOG, description="OpenCode Web.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common = _common()
    _add_run(commands.add_parser("run", parents=[common], help="Send a prompt, print the answer"))
    _add_sessions(commands.add_parser("sessions", parents=[common], help="List, delete sessions"))
    export = commands.add_parser("export", parents=[common], help="Write a session as JSON")
    export.add_argument("session", metavar="ID")
    export.add_argument("-o", "--output", metavar="FILE", help="Standard output by default.")
    export.set_defaults(action=documents.export_session)
    import_ = commands.add_parser("import", parents=[common], help="Make a session of its JSON")
    import_.add_argument("file", metavar="FILE", help="`-` for standard input")
    import_.set_defaults(action=documents.import_session)
    _add_token(commands.add_parser("token", parents=[common], help="List, make, revoke tokens"))
    attach = commands.add_parser("attach", parents=[common], help="Work in the terminal program")
    attach.add_argument("--email", default=os.environ.get("OPENCODE_WEB_EMAIL", ""))
    attach.add_argument("--how", dest="help_only", action="store_true", help="Only say how.")
    attach.set_defaults(alone=others.attach)
    _add_acp(
        commands.add_parser("acp", parents=[common], help="Serve an editor, see docs/editors.md")
    )
    serve = commands.add_parser("serve", aliases=["up"], help="Start the server")
    serve.add_argument("--port", type=int, default=int(os.environ.get("PORT") or PORT))
    serve.add_argument("--host", default="")
    serve.set_defaults(alone=others.serve)
    return parser


def _common() -> ArgumentParser:
    common = ArgumentParser(add_help=False)
    url = os.environ.get("OPENCODE_WEB_URL") or f"http://127.0.0.1:{PORT}"
    common.add_argument("--url", default=url, help="Address of the server.")
    common.add_argument(
        "--project",
        default=os.environ.get("OPENCODE_WEB_PROJECT", ""),
        help="team/project, or its folder on the server.",
    )
    # No option: everybody on the host can read a command line.
    common.set_defaults(token=os.environ.get("OPENCODE_WEB_TOKEN", ""), alone=None)
    return common


def _add_run(parser: ArgumentParser) -> None:
    parser.add_argument("message", nargs="*", help="Standard input is added to it.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("-s", "--session", metavar="ID", help="Go on with this session.")
    which.add_argument(
        "-c", "--continue", dest="resume", action="store_true", help="Go on with the newest."
    )
    parser.add_argument("-m", "--model", metavar="PROVIDER/MODEL")
    parser.add_argument("--agent")
    parser.add_argument("--variant", help="Of the model, such as how much it thinks.")
    parser.add_argument("-f", "--file", action="append", default=[], metavar="FILE")
    parser.add_argument("--title", help="Of a new session.")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("-q", "--quiet", action="store_true", help="Only the answer.")
    parser.add_argument(
        "--auto",
        action="store_true",
        help="Allow what the agent asks for, unless a rule denies it.",
    )
    parser.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="Stop the turn after so long."
    )
    _add_unattended(parser)
    parser.set_defaults(action=run)


def _add_unattended(parser: ArgumentParser) -> None:
    """What CI needs of `run`."""
    parser.add_argument("--results", metavar="FOLDER", help="Write the session and its changes.")
    parser.add_argument(
        "--permission", metavar="JSON", help="Rules of the new session, as in an opencode.json."
    )
    parser.add_argument(
        "--worktree", action="store_true", help="Have the new session work in its own worktree."
    )
    parser.add_argument("--commit", metavar="SHA", help="Of the worktree; needs --ref.")
    parser.add_argument("--ref", help="That has the commit, such as refs/heads/main.")
    parser.add_argument(
        "--embedded", metavar="FOLDER", help="In this repository, with a server for this run alone."
    )
    parser.add_argument(
        "--max-cost", type=_amount, metavar="USD", help="Of the session; only with --embedded."
    )


def _add_acp(parser: ArgumentParser) -> None:
    parser.description = "Editors drive sessions by the Agent Client Protocol on standard streams."
    parser.add_argument(
        "--token-file", metavar="FILE", help="Has the API token, in place of OPENCODE_WEB_TOKEN."
    )
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="On a loopback port, with a key that is printed."
    )
    parser.add_argument(
        "--mirror",
        action="store_true",
        help="Have the editor change its copy of a file, too, when you allow an edit.",
    )
    parser.set_defaults(alone=others.acp)


def _add_sessions(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(action=lists.list_sessions)
    delete = parser.add_subparsers(metavar="delete").add_parser("delete", help="Delete for good")
    delete.add_argument("ids", nargs="+", metavar="ID")
    delete.set_defaults(action=lists.delete_sessions)


def _add_token(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(action=lists.list_tokens)
    acts = parser.add_subparsers(metavar="create|revoke")
    create = acts.add_parser("create", help="Print the secret of a new one")
    create.add_argument("name")
    create.add_argument("--scope", choices=["read", "write", "admin"], default="read")
    create.add_argument("--days", type=int, help="Until it ends; it does not, by default.")
    create.set_defaults(action=lists.create_token)
    revoke = acts.add_parser("revoke", help="End at once")
    revoke.add_argument("ids", nargs="+", metavar="ID")
    revoke.set_defaults(action=lists.revoke_tokens)


def _seconds(text: str) -> float:
    return _positive(text, "number of seconds")


def _amount(text: str) -> float:
    return _positive(text, "amount of dollars")


def _positive(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no {what} above 0")
    return number
