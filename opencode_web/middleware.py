from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from opencode_web.denials import note_denial
from opencode_web.lib.errors import AppError, Settled
from opencode_web.lib.origin import originating
from opencode_web.outage import RETRY_AFTER_S, find_outage
from sessions.actions.change_requests import request_change
from sessions.approvals.hold import NeedsApproval
from teams.http import AFTER_SECURITY, client_ip, done, origin_of
from teams.policy import PolicyUnmet

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class EitherMiddleware:
    """Base of middleware that synchronous and asynchronous requests go through."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.get_response(request)


class OriginMiddleware(EitherMiddleware):
    """Keep where the request comes from, for what is recorded."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self._answer_async(request)
        with originating(origin_of(request)):
            return self.get_response(request)

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        with originating(origin_of(request)):
            answer = self.get_response(request)
            assert not isinstance(answer, HttpResponseBase)
            return await answer


class AppErrorMiddleware(EitherMiddleware):
    """Turn an `AppError` of a page into what its caller can show: a toast, a page, or JSON.

    A database that is away is one of them. Of a change that a second person must approve it makes a
    request.
    """

    def process_exception(self, request: HttpRequest, exc: Exception) -> HttpResponse | None:
        if isinstance(exc, PolicyUnmet) and (page := self._to_security(request, exc)):
            return page
        if isinstance(exc, NeedsApproval):
            return self._request_change(request, exc)
        if isinstance(exc, AppError):
            note_denial(request, exc)
            return render_error(request, exc)
        if (outage := find_outage(exc)) is not None:
            # Who is signed in is a question to the database, too.
            request.user = AnonymousUser()
            response = render_error(request, outage)
            response["Retry-After"] = str(RETRY_AFTER_S)
            return response
        return None

    def _request_change(self, request: HttpRequest, held: NeedsApproval) -> HttpResponse:
        page = reverse("sessions:approvals", args=[held.access.team.slug])
        try:
            request_change(held, ip=client_ip(request))
        except AppError as exc:
            if getattr(request, "htmx", False) or not request.accepts("text/html"):
                return render_error(request, exc)
            # The page that says who decides, not one that says nothing else.
            messages.error(request, exc.message)
            return redirect(page)
        said = _(
            "A second person must approve this. Your request is sent, and nothing is changed yet."
        )
        return done(request, said, to=page)

    def _to_security(self, request: HttpRequest, exc: PolicyUnmet) -> HttpResponse | None:
        """Lead who opens a page to where the sign-in can be completed, and back from there."""
        is_part = getattr(request, "htmx", False) or "Sec-Purpose" in request.headers
        if request.method != "GET" or is_part or not request.accepts("text/html"):
            return None
        messages.warning(request, exc.message)
        request.session[AFTER_SECURITY] = request.get_full_path()
        return redirect("mfa_index")


def render_error(request: HttpRequest, error: AppError) -> HttpResponse:
    response = _render(request, error)
    if "retryAfter" in error.data:
        response["Retry-After"] = str(error.data["retryAfter"])
    return response


def _render(request: HttpRequest, error: AppError) -> HttpResponse:
    if getattr(request, "htmx", False):
        kind = "" if isinstance(error, Settled) else "bad"
        context = {"message": error.message, "kind": kind}
        response = render(request, "_toast.html", context, status=error.status)
        response["HX-Retarget"] = "#toasts"
        response["HX-Reswap"] = "beforeend"
        return response
    if request.accepts("text/html"):
        return render(request, "error.html", {"error": error}, status=error.status)
    return JsonResponse(error.to_json(), status=error.status)
