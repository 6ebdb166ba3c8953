"""What lets browsers install the site as an app: the manifest, the service worker, a page without
a connection."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_GET


@require_GET
@cache_control(max_age=3600)
def manifest(request: HttpRequest) -> JsonResponse:
    """Source: https://www.w3.org/TR/appmanifest/"""
    icons = [
        {"src": static(f"icons/app-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png"}
        for size in (192, 512)
    ]
    home = reverse("home")
    maskable = static("icons/app-maskable-512.png")
    icons.append({"src": maskable, "sizes": "512x512", "type": "image/png", "purpose": "maskable"})
    content = {
        "id": home,
        "name": "OpenCode Web",
        "short_name": "OpenCode",
        "description": "Your team's coding agents.",
        "start_url": home,
        "scope": home,
        "display": "standalone",
        "background_color": "#0c0d0f",
        "theme_color": "#0c0d0f",
        "icons": icons,
    }
    return JsonResponse(content, content_type="application/manifest+json")


@require_GET
@never_cache
def service_worker(request: HttpRequest) -> HttpResponse:
    """At the root, since it may only serve what lies below its own address."""
    return render(request, "sw.js", content_type="text/javascript; charset=utf-8")


@require_GET
@cache_control(max_age=3600)
def offline(request: HttpRequest) -> HttpResponse:
    """What an installed app shows while the server cannot be reached."""
    return render(request, "offline.html")
