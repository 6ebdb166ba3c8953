from __future__ import annotations

import re
from collections.abc import Awaitable

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

from opencode_web.api_paths import API_PATHS
from opencode_web.lib.languages import language_of
from opencode_web.lib.public_url import without_base
from opencode_web.middleware import EitherMiddleware

_API = re.compile(API_PATHS)


class LanguageMiddleware(EitherMiddleware):
    """Speak the language of who reads a page, and English with whatever calls the API."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self._answer_async(request)
        if _API.match(without_base(request.path_info).removeprefix("/")):
            with translation.override(settings.LANGUAGE_CODE):
                return self.get_response(request)
        with translation.override(language_of(request, preferred=_preferred(request))):
            response = self.get_response(request)
            assert isinstance(response, HttpResponseBase)
            # A view may have changed it: the answer to a new preference is in the new language.
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        patch_vary_headers(response, ["Accept-Language"])
        return response

    async def _answer_async(self, request: HttpRequest) -> HttpResponseBase:
        # Pages are synchronous, so this is the API.
        with translation.override(settings.LANGUAGE_CODE):
            answer = self.get_response(request)
            assert not isinstance(answer, HttpResponseBase)
            return await answer


def _preferred(request: HttpRequest) -> str:
    try:
        return str(getattr(request.user, "language", ""))
    except (OperationalError, InterfaceError):
        # The view asks who it is, too, and its error becomes a page.
        return ""
