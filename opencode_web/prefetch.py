"""Which pages a browser fetches before somebody opens them: those of the links they are about to
press, as static/prefetch.speculationrules says. Their views must not change anything for a GET.

Source: https://html.spec.whatwg.org/multipage/speculative-loading.html
"""

from __future__ import annotations

from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.templatetags.static import static

from opencode_web.async_middleware import Inline


class PrefetchMiddleware(Inline):
    """Names the rules on every page of a team."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        is_prefetch = request.headers.get("Sec-Purpose", "").startswith("prefetch")
        # The page would take the messages that the next one is to show.
        if is_prefetch and request.COOKIES.get(CookieStorage.cookie_name):
            return HttpResponse(status=503)
        return None

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        # Views of a team put it there.
        if hasattr(request, "team") and response.headers.get("Content-Type", "").startswith(
            "text/html"
        ):
            response.headers["Speculation-Rules"] = f'"{static("prefetch.speculationrules")}"'
        return response
