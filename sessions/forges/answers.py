"""Read single values out of what a forge answers, whose shape is not ours."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.outbound import FetchError, check_url
from opencode_web.lib.text import clean_text
from sessions.forges.adapter import ForgeError, Pull, PullState

_MAX_TITLE_CHARS = 300


def object_of(value: JsonValue) -> JsonObject:
    """Raises: ForgeError for anything but an object."""
    if not isinstance(value, dict):
        raise ForgeError(gettext_noop("The forge answered something else than its API says."))
    return value


def objects_of(value: JsonValue) -> list[JsonObject]:
    """Raises: ForgeError for anything but a list of objects."""
    if not isinstance(value, list):
        raise ForgeError(gettext_noop("The forge answered something else than its API says."))
    return [object_of(one) for one in value]


def text_at(value: JsonObject, *path: str) -> str:
    """Returns: the text at the end of a path of keys, empty where there is none."""
    found: JsonValue = value
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return clean_text(found) if isinstance(found, str) else ""


def title_of(value: JsonObject) -> str:
    """Returns: the title, cut."""
    return text_at(value, "title")[:_MAX_TITLE_CHARS]


def number_of(value: JsonObject, name: str) -> int:
    """Raises: ForgeError without a number of a pull request."""
    found = value.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 < found < 2**31:
        raise ForgeError(gettext_noop("The forge answered something else than its API says."))
    return found


def id_of(value: JsonValue) -> str:
    """Returns: the id of a comment. Raises: ForgeError without one."""
    found = object_of(value).get("id")
    if not isinstance(found, int) or isinstance(found, bool) or found <= 0:
        raise ForgeError(gettext_noop("The forge answered something else than its API says."))
    return str(found)


def read_pull(found: JsonObject, state: PullState) -> Pull:
    """A pull request as GitHub has it, and Gitea after it. Raises: ForgeError."""
    number = number_of(found, "number")
    return Pull(
        number=number,
        url=page_of(found, "html_url"),
        title=title_of(found),
        base=text_at(found, "base", "ref"),
        state=state,
        head=text_at(found, "head", "sha"),
        branch=text_at(found, "head", "ref"),
        fetch=f"refs/pull/{number}/head",
        is_fork=not is_of_repository(found),
    )


def is_of_repository(pull: JsonObject) -> bool:
    """Whether the branch of a pull request is in the repository itself and in no fork."""
    head, base = repository_of(pull, "head"), repository_of(pull, "base")
    return head is not None and head == base


def repository_of(pull: JsonObject, end: str) -> JsonValue:
    """Returns: the id of the repository of one end of a pull request; None where it is gone."""
    branch = pull.get(end)
    repository = branch.get("repo") if isinstance(branch, dict) else None
    if isinstance(repository, dict):
        return repository.get("id")
    # Gitea says the id alone, too.
    return branch.get("repo_id") if isinstance(branch, dict) else None


def page_of(value: JsonObject, name: str) -> str:
    """Returns: the address of a page that people can open.

    Raises: ForgeError for anything but http and https: a link of another kind could run a script.
    """
    try:
        return check_url(text_at(value, name))
    except FetchError as exc:
        raise ForgeError(
            gettext_noop("The forge answered without the address of the pull request.")
        ) from exc
