"""What people do on a page. See `registry.py`."""

from __future__ import annotations

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from teams.commands.command import Command, Group

# Those of a question, by their number.
ANSWERS = [f"answer-{number}" for number in range(1, 10)]

# fmt: off
_SESSION = (
    Command("rename", Group.SESSION, gettext_lazy("Change the title"), "t", slash="rename",
            words=gettext_lazy("rename name")),
    Command("compact", Group.SESSION, gettext_lazy("Compact the conversation"),
            slash="compact summarize"),
    Command("undo", Group.SESSION, gettext_lazy("Roll back the last turn…"), slash="undo",
            words=gettext_lazy("revert back reset")),
    Command("redo", Group.SESSION, gettext_lazy("Restore what was rolled back"), slash="redo"),
    Command("fork", Group.SESSION, gettext_lazy("Fork session"), slash="fork",
            words="copy branch"),
    Command("share", Group.SESSION, gettext_lazy("Share…"), slash="share unshare",
            words="link public"),
    Command("publish", Group.SESSION, gettext_lazy("Commit, push, pull request"), slash="commit",
            words=gettext_lazy("pr git publish commit")),
    Command("worktree", Group.SESSION, gettext_lazy("Worktree"), slash="worktree",
            words="merge branch"),
    Command("compare", Group.SESSION, gettext_lazy("Compare attempts"), slash="compare"),
    Command("export", Group.SESSION, gettext_lazy("Export as JSON"), slash="export",
            words="download"),
    Command("copy-answer", Group.SESSION, gettext_lazy("Copy the last answer"), slash="copy"),
    Command("pin", Group.SESSION, gettext_lazy("Pin or unpin session")),
    Command("private", Group.SESSION, gettext_lazy("Make private or open to the project…"),
            slash="private", words="privacy hide lock"),
    Command("archive", Group.SESSION, gettext_lazy("Archive or unarchive session"),
            slash="archive"),
    Command("delete", Group.SESSION, gettext_lazy("Delete session…"), slash="delete",
            words="remove"),
    Command("find", Group.SESSION, gettext_lazy("Find in this session"), "Mod+f",
            slash="find timeline", words="search"),
    Command("thinking", Group.SESSION, gettext_lazy("Expand thinking"), slash="thinking",
            words="reasoning"),
    Command("fold", Group.SESSION, gettext_lazy("Expand or collapse tool rows of the turn"),
            "Shift+e", slash="details"),
    Command("previous-turn", Group.SESSION, gettext_lazy("Previous turn"), "Alt+ArrowUp"),
    Command("next-turn", Group.SESSION, gettext_lazy("Next turn"), "Alt+ArrowDown"),
    Command("turn-fork", Group.SESSION, gettext_lazy("Fork from here"), is_of_row=True),
    Command("turn-roll-back", Group.SESSION, gettext_lazy("Roll back to before this turn…"),
            is_of_row=True),
    Command("turn-delete", Group.SESSION, gettext_lazy("Delete turn…"), is_of_row=True),
)
_MESSAGE = (
    Command("write", Group.MESSAGE, gettext_lazy("Write a message"), "/"),
    Command("send", Group.MESSAGE, gettext_lazy("Send the message"), "Enter", is_fixed=True),
    Command("newline", Group.MESSAGE, gettext_lazy("New line in the message"), "Shift+Enter",
            is_fixed=True),
    Command("queue", Group.MESSAGE, gettext_lazy("Send in the other mode while the agent works"),
            "Mod+Enter", is_fixed=True),
    Command("model", Group.MESSAGE, gettext_lazy("Choose the model"), "Mod+Shift+m",
            slash="models model"),
    Command("agent", Group.MESSAGE, gettext_lazy("Choose the agent"), "Mod+.",
            slash="agents agent"),
    Command("variant", Group.MESSAGE, gettext_lazy("Choose the thinking variant"), "Mod+Shift+d",
            slash="variants variant"),
    Command("attach", Group.MESSAGE, gettext_lazy("Attach files"), slash="attach",
            words="upload image"),
    Command("dictate", Group.MESSAGE, gettext_lazy("Dictate the message"), slash="dictate",
            words="voice microphone speech"),
    Command("leave-field", Group.MESSAGE, gettext_lazy("Leave the message field"), "Escape",
            scope="field", is_fixed=True),
    Command("stop", Group.MESSAGE, gettext_lazy("Stop the turn"), "Escape Escape", slash="stop"),
)
_REQUESTS = (
    Command("allow-once", Group.REQUESTS, gettext_lazy("Allow once"), "y"),
    Command("allow-always", Group.REQUESTS, gettext_lazy("Always allow…"), "Shift+y"),
    Command("reject", Group.REQUESTS, gettext_lazy("Reject, or tell the agent what to do instead"),
            "x"),
    *(
        Command(name, Group.REQUESTS,
                format_lazy(gettext_lazy("Choose answer {number}"), number=number), str(number))
        for number, name in enumerate(ANSWERS, start=1)
    ),
)
_PANEL = (
    Command("changes", Group.PANEL, gettext_lazy("Show or hide changes"), "c",
            slash="changes diff"),
    Command("review", Group.PANEL, gettext_lazy("Review changes in the full window"), "e"),
    Command("files", Group.PANEL, gettext_lazy("Show or hide files"), "f", slash="files"),
    Command("find-in-file", Group.PANEL, gettext_lazy("Find in the file"), "Mod+f",
            scope="files"),
    Command("terminal", Group.PANEL, gettext_lazy("Show or hide the terminal"), "`",
            slash="terminal"),
    Command("preview", Group.PANEL, gettext_lazy("Show or hide the app preview"), "o",
            slash="preview", words="browser port localhost web app"),
    Command("panes", Group.PANEL, gettext_lazy("Go to the next pane"), "F6"),
    Command("save-file", Group.PANEL, gettext_lazy("Save the file in the editor"), "Mod+s",
            scope="files", is_fixed=True),
    Command("leave-editor", Group.PANEL, gettext_lazy("Leave the editor"), "Escape Tab",
            scope="files", is_fixed=True),
    Command("context", Group.PANEL, gettext_lazy("Show or hide context and cost"), "i",
            slash="context status cost", words="tokens usage"),
)
_CHANGES = (
    Command("next-file", Group.CHANGES, gettext_lazy("Next changed file"), "n", scope="changes"),
    Command("previous-file", Group.CHANGES, gettext_lazy("Previous changed file"), "p",
            scope="changes"),
    Command("next-change", Group.CHANGES, gettext_lazy("Next change"), "]", scope="changes"),
    Command("previous-change", Group.CHANGES, gettext_lazy("Previous change"), "[",
            scope="changes"),
    Command("columns", Group.CHANGES, gettext_lazy("Switch between unified and split diff"), "u",
            scope="changes"),
    Command("viewed", Group.CHANGES, gettext_lazy("Mark the file as viewed"), "v",
            scope="changes"),
    Command("fold-files", Group.CHANGES, gettext_lazy("Expand or collapse all files"), "Shift+e",
            scope="changes"),
    Command("wrap", Group.CHANGES, gettext_lazy("Wrap long lines"), "w", scope="changes"),
    Command("tree", Group.CHANGES, gettext_lazy("Show or hide the file list"), "t",
            scope="changes"),
    Command("lines", Group.CHANGES, gettext_lazy("Go from line to line; with Shift, select lines"),
            "ArrowUp ArrowDown", scope="changes", is_fixed=True),
    Command("comment", Group.CHANGES, gettext_lazy("Comment on the lines"), "c", scope="changes"),
    Command("stage-change", Group.CHANGES, gettext_lazy("Stage or unstage the change"), "s",
            scope="changes"),
    Command("revert-change", Group.CHANGES, gettext_lazy("Revert the change"), "Shift+r",
            scope="changes"),
)
_TERMINAL = (
    Command("leave-terminal", Group.TERMINAL, gettext_lazy("Leave the terminal"), "Mod+F6",
            scope="terminal", is_fixed=True),
    Command("terminal-quote", Group.TERMINAL, gettext_lazy("Send selection to agent")),
    Command("terminal-copy", Group.TERMINAL, gettext_lazy("Copy selection")),
    Command("terminal-paste", Group.TERMINAL, gettext_lazy("Paste")),
    Command("terminal-share", Group.TERMINAL, gettext_lazy("Let members watch")),
    Command("terminal-reader", Group.TERMINAL, gettext_lazy("Screen reader mode")),
    Command("terminal-close", Group.TERMINAL, gettext_lazy("Close terminal")),
)
_PREVIEW = (
    Command("preview-reload", Group.PREVIEW, gettext_lazy("Reload the app")),
    Command("preview-pick", Group.PREVIEW, gettext_lazy("Pick an element for the agent")),
    Command("preview-picture", Group.PREVIEW, gettext_lazy("Attach a screenshot of the app")),
    Command("preview-errors", Group.PREVIEW, gettext_lazy("Send the app's errors to the agent")),
    Command("preview-tab", Group.PREVIEW, gettext_lazy("Open the app in a new tab")),
    Command("preview-close", Group.PREVIEW, gettext_lazy("Close the preview")),
)
_SESSIONS = (
    Command("sessions", Group.SESSIONS, gettext_lazy("Go to a session…"),
            slash="sessions resume continue", words="switch open"),
    Command("next-session", Group.SESSIONS, gettext_lazy("Next session in the list"), "j"),
    Command("previous-session", Group.SESSIONS, gettext_lazy("Previous session in the list"),
            "k"),
    Command("rail", Group.SESSIONS, gettext_lazy("Show or hide the session list"), "["),
    Command("import", Group.SESSIONS, gettext_lazy("Import a session…")),
    Command("row-open", Group.SESSIONS, gettext_lazy("Open"), is_of_row=True),
    Command("row-open-tab", Group.SESSIONS, gettext_lazy("Open in a new tab"), is_of_row=True),
)
_ANYWHERE = (
    Command("palette", Group.ANYWHERE, gettext_lazy("Search and navigate"), "Mod+k"),
    Command("help", Group.ANYWHERE, gettext_lazy("Show commands and shortcuts"), "?",
            slash="help", words="keyboard keys"),
    Command("delete-project", Group.ANYWHERE, gettext_lazy("Delete project…")),
    Command("sign-out", Group.ANYWHERE, gettext_lazy("Sign out"), words="log out logout"),
)
# fmt: on

ACTS = (
    *(*_SESSION, *_MESSAGE, *_REQUESTS, *_PANEL, *_CHANGES, *_TERMINAL, *_PREVIEW, *_SESSIONS),
    *_ANYWHERE,
)
