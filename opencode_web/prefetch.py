"""Pages that are fetched before somebody opens them: by static/js/navigate.js, and by browsers.

Their views must not change anything for a GET.
"""

from __future__ import annotations

from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest, HttpResponse

from opencode_web.async_middleware import Inline

# Scripts can set the second one only.
_HEADERS = ("Sec-Purpose", "Purpose")


class PrefetchMiddleware(Inline):
    """Refuses what would take the messages that the next page is to show."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        is_prefetch = any(request.headers.get(one, "").startswith("prefetch") for one in _HEADERS)
        if is_prefetch and request.COOKIES.get(CookieStorage.cookie_name):
            return HttpResponse(status=503)
        return None
