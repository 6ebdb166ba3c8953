"""Who may see the console, and what of the sessions it may name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from opencode_web.lib.errors import NotFound
from sessions.models import ServerProcess, Session, TeamFolder
from teams.access import access_operator
from teams.http import UserRequest, user_view
from teams.models import Team, User

P = ParamSpec("P")


def access_turn(user: User, session_id: str) -> Session:
    """Returns: the session as an operator may act on it: whoever owns it, whatever it is about.

    Raises: NotFound for an unknown one, and for everybody who is no operator.
    """
    access_operator(user)
    rows = Session.objects.select_related("project__team", "run")
    session = rows.filter(pk=session_id).first()
    if session is None:
        raise NotFound("Session", session_id)
    return session


def access_process(user: User, name: str) -> ServerProcess:
    """Raises: NotFound for an unknown one, and for everybody who is no operator."""
    access_operator(user)
    row = ServerProcess.objects.filter(pk=name).first()
    if row is None:
        raise NotFound("Process", name)
    return row


def access_folder(user: User, folder_id: int) -> TeamFolder:
    """Raises: NotFound for an unknown one, and for everybody who is no operator."""
    access_operator(user)
    row = TeamFolder.objects.filter(pk=folder_id).first()
    if row is None:
        raise NotFound("Folder", str(folder_id))
    return row


def access_any_team(user: User, slug: str) -> Team:
    """Raises: NotFound for an unknown one, and for everybody who is no operator."""
    access_operator(user)
    row = Team.objects.filter(slug=slug).first()
    if row is None:
        raise NotFound("Team", slug)
    return row


def access_account(user: User, person: int) -> User:
    """Raises: NotFound for an unknown person or a program, and for everybody who is no operator."""
    access_operator(user)
    row = User.objects.filter(pk=person, service_of=None).first()
    if row is None:
        raise NotFound("Account", str(person))
    return row


def operator_view(
    view: Callable[Concatenate[UserRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let operators in. Others are told that there is no such page, when they are signed in."""

    @wraps(view)
    def wrapped(request: UserRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        access_operator(request.user)
        return view(request, *args, **kwargs)

    return user_view(wrapped)
