from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from opencode_web.docs.pages import load_documents, page_url, search
from teams.http import UserRequest, user_view

_MAX_QUERY_CHARS = 200


@require_GET
@user_view
def index(request: UserRequest) -> HttpResponse:
    """The first page, or with `?q=` what the search finds."""
    if "q" not in request.GET:
        return _page(request, "index")
    query = request.GET["q"].strip()[:_MAX_QUERY_CHARS]
    return _show(request, "found", "", {"query": query, "results": search(query)})


@require_GET
@user_view
def page(request: UserRequest, name: str) -> HttpResponse:
    return _page(request, name)


def _page(request: UserRequest, name: str) -> HttpResponse:
    document = load_documents().get(name)
    if document is None:
        return _show(request, "missing", "", {}, status=404)
    outline = [section for section in document.sections if section.level in (2, 3)]
    return _show(request, "page", name, {"document": document, "outline": outline})


def _show(
    request: UserRequest, template: str, name: str, context: dict[str, object], *, status: int = 200
) -> HttpResponse:
    pages = [
        {"title": document.title, "url": page_url(one), "is_current": one == name}
        for one, document in load_documents().items()
    ]
    return render(request, f"docs/{template}.html", {"pages": pages, **context}, status=status)
