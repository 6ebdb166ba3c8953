"""The rows of calls as they are drawn."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string

from sessions.present.conversation.tools import build_tool_row
from tests.sessions.present.test_tools import DIFF, PLACE, READ, part


def drawn(call: dict[str, Any], **more: Any) -> str:
    row = build_tool_row(call, PLACE, **more)
    return render_to_string("sessions/parts/_tool.html", {"row": row})


def test_a_running_command_shows_its_last_line_and_can_be_stopped() -> None:
    output = "first\n\x1b[31m<b>50 %\r<b>60 %\x1b[0m\x07\n \n"
    call = part("bash", {"command": "make"}, status="running", metadata={"output": output})
    html = drawn(call)
    assert '<span class="tool-tail meta">&lt;b&gt;60 %</span>' in html
    assert 'action="/t/acme/s/ses_1/part/prt_1/stop"' in html
    for other in ("pending", "completed", "error"):
        ended = drawn({**call, "state": {**call["state"], "status": other}})
        assert "tool-tail" not in ended
        assert "/stop" not in ended
    waits = drawn(call, waiting="Waiting for you")
    assert "/stop" not in waits
    assert "tool-tail" not in waits


def test_a_command_that_failed_shows_its_last_line_without_being_opened() -> None:
    output = "make: <all>\nmake: *** No rule to make target.\n"
    call = part("bash", {"command": "make"}, metadata={"output": output, "exit": 2})
    assert '<span class="tool-tail meta">make: *** No rule to make target.</span>' in drawn(call)
    call["state"]["metadata"]["exit"] = 0
    assert "tool-tail" not in drawn(call)


def test_a_call_that_ended_with_its_turn_leaves_it_to_the_turn_to_say_why() -> None:
    cause = {"reason": "stopped_by", "values": {"name": "Bob"}}
    metadata = {"interrupted": True, "cause": cause}
    call = part("bash", {"command": "make"}, metadata=metadata)
    call["state"] |= {"status": "error", "error": "Stopped by Bob"}
    html = drawn(call)
    assert "tool-stopped" in html
    assert "Bob" not in html
    # Where the turn went on, nothing else tells.
    metadata["cause"] = {"reason": "server_stopped", "values": {}}
    assert "Interrupted: the server was stopped" in drawn(call)


def test_a_command_that_somebody_stopped_says_who_and_keeps_its_output() -> None:
    metadata = {"output": "half\n", "exit": None, "stoppedBy": "Bob <i>"}
    call = part("bash", {"command": "make", "workdir": "/srv/shop/src"}, metadata=metadata)
    call["state"]["time"] = {"start": 1_000, "end": 13_000}
    html = drawn(call)
    assert "tool-stopped" in html
    assert '<span class="tool-error">Stopped by Bob &lt;i&gt;</span>' in html
    assert "half" in html
    assert 'in <span class="mono">src</span>' in html
    assert '<span class="tool-time meta">12 s</span>' in html


def test_a_fetched_page_says_what_came_and_leads_there() -> None:
    found = {"status": 203, "bytes": 20_480, "mime": "text/html", "title": "A <b>page"}
    given = {"url": "https://example.org/a?b=1&c=2"}
    html = drawn(part("webfetch", given, metadata=found, output="\n".join("x" * 30)))
    assert "<b>Fetched</b>" in html
    assert '<span class="tool-object">example.org</span>' in html
    assert "A &lt;b&gt;page" in html
    assert 'href="https://example.org/a?b=1&amp;c=2"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert "Status 203" in html
    assert "20.0\xa0KB" in html
    assert "Show 18 more lines" in html
    hostile = drawn(part("webfetch", {"url": "javascript:alert(1)"}, output="x"))
    assert 'href="javascript' not in hostile


def test_pictures_of_a_call_are_shown_from_their_own_address() -> None:
    files = [
        {"mime": "application/pdf", "url": "data:application/pdf;base64,AA=="},
        {"mime": "image/png", "url": "data:image/png;base64,AA==", "filename": "<a>.png"},
    ]
    html = drawn(part("draw_chart", {"kind": "pie"}, output="done", attachments=files))
    assert 'src="/t/acme/s/ses_1/part/prt_1/picture/1"' in html
    assert 'alt="&lt;a&gt;.png"' in html
    assert "picture/0" not in html
    assert "data:image" not in html


def test_a_tool_of_an_mcp_server_is_named_with_it() -> None:
    call = part("shop_stock", {"item": "tea"}, output="1 of tea")
    call["metadata"] = {"mcp": {"server": "shop", "tool": "<b>stock"}}
    row = build_tool_row(call, PLACE)
    assert (row.verb, row.object) == ("shop: <b>stock", "tea")
    assert "<b>shop: &lt;b&gt;stock</b>" in drawn(call)
    assert "1 of tea" in drawn(call)


def test_cards_lead_to_the_file_in_the_panel() -> None:
    edit = drawn(part("edit", {"filePath": "/srv/shop/a b.py"}, metadata={"filediff": DIFF}))
    assert "?panel=changes&amp;source=session&amp;file=a+b.py#file-" in edit
    read = drawn(part("read", {"filePath": "/srv/shop/a.py"}, metadata={"display": READ}))
    assert "?panel=files&amp;file=a.py" in read
