from __future__ import annotations

from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from sessions.events import messages, parts, questions, stored

PAIRS: list[tuple[type[BaseModel], Any]] = [
    (messages.UserMessage, stored.StoredPrompt),
    (messages.AssistantMessage, stored.StoredAnswer),
    (parts.TextPart, stored.StoredText),
    (parts.ReasoningPart, stored.StoredReasoning),
    (parts.FilePart, stored.StoredFile),
    (parts.AgentPart, stored.StoredAgent),
    (parts.SubtaskPart, stored.StoredSubtask),
    (parts.ToolPart, stored.StoredTool),
    (parts.StepStartPart, stored.StoredStepStart),
    (parts.StepFinishPart, stored.StoredStepFinish),
    (parts.SnapshotPart, stored.StoredSnapshot),
    (parts.PatchPart, stored.StoredPatch),
    (parts.RetryPart, stored.StoredRetry),
    (parts.CompactionPart, stored.StoredCompaction),
    (parts.DoneTime, stored.StoredTime),
    (messages.MessageTime, stored.StoredMoments),
    (messages.MessageError, stored.StoredError),
    (messages.MessageModel, stored.StoredModel),
    (messages.MessagePath, stored.StoredPath),
    (messages.Tokens, stored.StoredTokens),
    (messages.CacheTokens, stored.StoredCache),
    (questions.QuestionInfo, stored.StoredQuestion),
    (questions.QuestionOption, stored.StoredOption),
]
# They name what the row is, so they are always written.
TAGS = {"type", "role", "status"}


def keys_always_there(shape: Any) -> set[str]:
    if not shape.__total__:
        return set()
    hints = get_type_hints(shape, include_extras=True)
    return {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}


def required(model: type[BaseModel]) -> set[str]:
    return {name for name, field in model.model_fields.items() if field.is_required()}


def test_a_stored_shape_has_the_keys_of_what_is_written(subtests: pytest.Subtests) -> None:
    for model, shape in PAIRS:
        with subtests.test(model=model):
            assert set(get_type_hints(shape)) == set(model.model_fields)
            assert keys_always_there(shape) - TAGS == required(model) - TAGS


def test_the_state_of_a_call_has_the_keys_of_all_its_states() -> None:
    states = (parts.ToolPending, parts.ToolRunning, parts.ToolCompleted, parts.ToolFailed)
    written = set().union(*(state.model_fields for state in states))
    assert set(get_type_hints(stored.StoredState)) == written


def test_every_part_and_message_has_a_stored_shape() -> None:
    kinds = set(get_args(get_args(parts.AnyPart)[0]))
    kinds |= set(get_args(get_args(messages.MessageInfo)[0]))
    shapes = {*get_args(stored.StoredPart), *get_args(stored.StoredMessage)}
    assert kinds <= {model for model, _ in PAIRS}
    assert shapes <= {shape for _, shape in PAIRS}
    assert len(kinds) == len(shapes) == 14


def test_tags_are_the_same() -> None:
    for model, shape in PAIRS[:14]:
        tag = "role" if "role" in model.model_fields else "type"
        literal = get_type_hints(shape)[tag]
        assert get_args(literal) == (model.model_fields[tag].default,)
