from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from providers.installed import register_installed
from providers.llm.sign_in import register_sign_in
from providers.llm.sign_in.gitlab import GitLab


class ProvidersConfig(AppConfig):
    name = "providers"

    def ready(self) -> None:
        """Have GitLab signed in to by the application that operators have registered, and what
        plugins bring by theirs."""
        register_installed()
        if not settings.GITLAB_OAUTH_CLIENT_ID:
            return
        try:
            gitlab = GitLab(settings.GITLAB_OAUTH_CLIENT_ID, instance=settings.GITLAB_INSTANCE_URL)
        except ValueError as exc:
            raise ImproperlyConfigured(f"GITLAB_INSTANCE_URL: {exc}") from exc
        register_sign_in(gitlab)
