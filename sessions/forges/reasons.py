"""Why a forge did not do what was asked of it. See `opencode_web.lib.reasons`."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Reason


class ForgeReason(Reason):
    """`name` is what people call the forge, `words` what it said, cut and without the token."""

    UNREACHABLE = "forge_unreachable", gettext_noop("{name} could not be reached: {why}.")
    NOT_ITS_API = (
        "forge_not_its_api",
        gettext_noop(
            "What answers at {host} is not the API of {name}. An admin has to check the API "
            "address of the project."
        ),
    )
    ALREADY_OPEN = (
        "forge_already_open",
        gettext_noop("{name} has an open pull request of this branch already."),
    )
    TOKEN_REFUSED = (
        "forge_token_refused",
        gettext_noop(
            "{name} does not accept the project's access token. It may have expired: an admin has "
            "to set a new one."
        ),
    )
    FORBIDDEN = (
        "forge_forbidden",
        gettext_noop("The project's access token is not allowed to do this on {name}."),
    )
    NOT_FOUND = (
        "forge_not_found",
        gettext_noop(
            "{name} has no such repository, branch or pull request that the project's access token "
            "may see."
        ),
    )
    KEY_REFUSED = (
        "outside_key_refused",
        gettext_noop(
            "{name} does not accept the API key. It may have been revoked: an admin has to paste "
            "a new one."
        ),
    )
    KEY_FORBIDDEN = (
        "outside_key_forbidden",
        gettext_noop("The API key is not allowed to do this on {name}."),
    )
    GONE = (
        "outside_gone",
        gettext_noop("{name} has no such issue, comment or person that the API key may see."),
    )
    REDIRECT = (
        "forge_redirect",
        gettext_noop(
            "{name} redirects to another address, and the token is sent to no other. The "
            "repository has moved, or the API address of the project is not the final one."
        ),
    )
    LIMITED = (
        "forge_limited",
        gettext_noop(
            "{name} takes no more requests from this token for now. Try again in {minutes} min."
        ),
    )
    LIMITED_FOR_NOW = (
        "forge_limited_for_now",
        gettext_noop("{name} takes no more requests from this token for now. Try again later."),
    )
    APP_REFUSED = (
        "forge_app_refused",
        gettext_noop(
            "GitHub does not accept the key of the GitHub App. The key was revoked, the app was "
            "deleted, or the clock of this server is wrong. An admin can remove the app under "
            "Integration and create a new one."
        ),
    )
    APP_NOT_INSTALLED = (
        "forge_app_not_installed",
        gettext_noop(
            "The GitHub App is not installed for the project's repository. An admin can install it "
            "under Integration."
        ),
    )
    APP_SUSPENDED = (
        "forge_app_suspended",
        gettext_noop(
            "The installation of the GitHub App is suspended. An owner of the repository can "
            "unsuspend it in GitHub's settings."
        ),
    )
    APP_NOT_PERMITTED = (
        "forge_app_not_permitted",
        gettext_noop(
            "The GitHub App does not have the permissions that it needs, or not for the project's "
            "repository. An owner of the repository can review the installation in GitHub's "
            "settings."
        ),
    )
    FAULT = (
        "forge_fault",
        gettext_noop("{name} has a problem of its own ({status}). Try again later."),
    )
    REFUSED = "forge_refused", gettext_noop("{name} does not take it ({status}).")
    # One of these, and what the forge said about it.
    SAYING = "forge_saying", gettext_noop("{reason} It says: {words}")
