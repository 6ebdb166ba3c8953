"""The ways to sign in at a provider, and what has to be asked first. Values only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..texts import gettext_noop
from .errors import BadInput

MAX_INPUT_CHARS = 500
MISSING = gettext_noop("This field is required.")
_UNKNOWN_OPTION = gettext_noop("Choose one of the options.")
_TOO_LONG = gettext_noop("This is too long.")


@dataclass(frozen=True, slots=True)
class Option:
    """One of the answers to a prompt of type "select"."""

    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class When:
    """Has a prompt depend on the answer to an earlier one."""

    key: str
    op: Literal["eq", "neq"]
    value: str

    def holds(self, inputs: Mapping[str, str]) -> bool:
        """Whether the prompt is asked after these answers."""
        return (inputs.get(self.key, "") == self.value) == (self.op == "eq")


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question to the person who signs in.

    `read` returns an answer as it is used, or raises ValueError that says what is wrong with it.
    """

    key: str
    message: str
    type: Literal["text", "select"] = "text"
    placeholder: str = ""
    options: tuple[Option, ...] = ()
    when: When | None = None
    is_required: bool = True
    read: Callable[[str], str] = _as_it_is

    def checked(self, text: str) -> str:
        """Returns: the answer as it is used. Raises: ValueError."""
        text = text.strip()
        if self.type == "select":
            text = text or self.options[0].value
            if text not in {option.value for option in self.options}:
                raise ValueError(_UNKNOWN_OPTION)
        if not text:
            if self.is_required:
                raise ValueError(MISSING)
            return ""
        if len(text) > MAX_INPUT_CHARS:
            raise ValueError(_TOO_LONG)
        return self.read(text)


@dataclass(frozen=True, slots=True)
class Method:
    """One way to sign in.

    "code": a page of the provider, from which an address or a code is brought back; "device": a
    page where a code is entered, while this side asks again and again; "key": a key is pasted.
    """

    id: str
    kind: Literal["code", "device", "key"]
    label: str
    prompts: tuple[Prompt, ...] = ()

    def checked(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """Returns: the answers to the prompts that are asked. Raises: BadInput."""
        answers: dict[str, str] = {}
        faults: dict[str, str] = {}
        for prompt in self.prompts:
            if prompt.when is not None and not prompt.when.holds(answers):
                continue
            try:
                answers[prompt.key] = prompt.checked(inputs.get(prompt.key, ""))
            except ValueError as exc:
                faults[prompt.key] = str(exc)
        if faults:
            raise BadInput(faults)
        return {key: answer for key, answer in answers.items() if answer}


def matching(pattern: str, fault: str) -> Callable[[str], str]:
    """Returns: a reader that takes what fits the whole pattern."""
    compiled = re.compile(pattern)

    def read(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(fault)
        return text

    return read


def key_method(label: str, *prompts: Prompt) -> Method:
    """Returns: the method of a provider that takes a pasted key."""
    return Method("key", "key", label, prompts)
