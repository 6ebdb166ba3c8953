from __future__ import annotations

from opencode_web.lib.sse import frame


def test_a_lone_surrogate_does_not_end_the_stream() -> None:
    assert b'"a?b"' in frame({"text": "a\ud800b"})
