"""The GitHub App of a team: made by GitHub from a manifest, for projects that it is installed in.

What a browser brings back from GitHub is believed only as far as GitHub's API confirms it.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue, list_of, object_of, text_of
from sessions.access import ProjectAccess
from sessions.events.reasons import read_cause
from sessions.forges.adapter import ForgeError, ForgeKind
from sessions.forges.github_app import (
    ENDED,
    FOR_API,
    AppToken,
    NewApp,
    build_manifest,
    convert_manifest,
    find_installation,
    new_token,
)
from sessions.forges.inbound import number_in
from sessions.forges.reasons import ForgeReason
from sessions.github_tokens import key_of, note_problem
from sessions.models import GitHubApp, GitHubInstallation, Project, ProjectForge
from sessions.publish_settings import Publishing, publishing_of
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role

# As long as GitHub's code can be used.
_STATE_S = 3600
_ABOUT = {"installation", "installation_repositories"}


@dataclass(frozen=True)
class Offer:
    """A form to GitHub that makes an app; `owner` is empty for the person's own account."""

    owner: str
    action: str
    manifest: JsonObject


def require_github(access: ProjectAccess) -> Publishing:
    """Returns: how the project is published. Raises: Conflict unless that is on GitHub."""
    publishing = publishing_of(access.project)
    if publishing.kind is not ForgeKind.GITHUB:
        raise Conflict(_("The project is not on GitHub. Check its settings under Publishing."))
    host, api = (urlsplit(url).hostname for url in (publishing.origin, publishing.api_url))
    if api not in (host, f"api.{host}"):
        raise Conflict(
            _("The API address under Publishing is on another host than the project's repository.")
        )
    return publishing


def find_app(access: ProjectAccess, publishing: Publishing) -> GitHubApp | None:
    """Returns: the team's own on that GitHub."""
    rows = GitHubApp.objects.filter(team=access.team.team, api_url=publishing.api_url)
    return rows.filter(origin=publishing.origin).first()


def require_app(access: ProjectAccess) -> GitHubApp:
    """Raises: NotFound while there is none; Conflict for a project that is not on GitHub."""
    found = find_app(access, require_github(access))
    if found is None:
        raise NotFound("GitHub App")
    return found


def offer_app(access: ProjectAccess, *, browser: str) -> list[Offer]:
    """Returns: the forms that make one, for the owner of the repository and for the person.

    `browser` is the key of the browser's session: nobody else can come back with what is sent.
    Raises: Conflict for a project that is not on GitHub; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    publishing = require_github(access)
    app_id = new_id("gha")
    page = f"{project_page(access.project)}/integration/app"
    manifest = build_manifest(
        f"OpenCode Web {access.team.team.name}",
        url=settings.PUBLIC_URL,
        webhook=f"{settings.PUBLIC_URL}/integrations/github/{app_id}",
        created=f"{page}/created",
        installed=f"{page}/installed",
    )
    state = quote(make_state(access, browser=browser, app_id=app_id))
    owner = publishing.path.partition("/")[0]
    places = {owner: f"organizations/{quote(owner, safe='')}/settings", "": "settings"}
    return [
        Offer(name, f"{publishing.origin}/{place}/apps/new?state={state}", manifest)
        for name, place in places.items()
    ]


def project_page(project: Project) -> str:
    """Returns: the address of a project's page, for use outside of this server."""
    return f"{settings.PUBLIC_URL}/t/{project.team.slug}/p/{project.pk}"


def make_state(access: ProjectAccess, *, browser: str, app_id: str = "") -> str:
    """Returns: what GitHub sends back with the browser, of use to this person in it alone."""
    said = {"app": app_id, "project": access.project.pk, "user": access.principal.user.pk}
    return signing.dumps(said, salt=_salt(browser))


def read_state(access: ProjectAccess, state: str, *, browser: str, creates: bool) -> str:
    """Returns: the id of the app that it `creates`, empty for another. Raises: Invalid."""
    try:
        said = signing.loads(state, salt=_salt(browser), max_age=_STATE_S)
    except signing.BadSignature:
        said = {}
    mine = {"project": access.project.pk, "user": access.principal.user.pk}
    if {name: said.get(name) for name in mine} != mine or bool(said["app"]) is not creates:
        raise Invalid(_("This link from GitHub is not valid any more. Start again on this page."))
    return str(said["app"])


def _salt(browser: str) -> str:
    return f"github-app:{browser}"


async def make_app(
    access: ProjectAccess, app_id: str, code: str, *, ip: str | None = None
) -> GitHubApp:
    """Exchange the code that GitHub sent the browser back with, and keep the app.

    Raises: Invalid where GitHub does not take it; Conflict where the team has one; Forbidden.
    """
    require_role(access.team, Role.ADMIN)
    publishing = await in_db(require_github, access)
    try:
        made = await convert_manifest(publishing.api_url, code)
        if not made.page.startswith(f"{publishing.origin}/"):
            raise ForgeError(ForgeReason.NOT_ITS_API, name="GitHub", host=publishing.origin)
    except ForgeError as exc:
        if exc.reason is ForgeReason.NOT_FOUND:
            raise Invalid(
                _(
                    "GitHub does not take the code: it was used before, or is older than an hour. "
                    "Create the app again."
                )
            ) from exc
        raise Invalid(exc.worded()) from exc
    return await in_db(_keep_app, access, publishing, app_id, made, ip)


@transaction.atomic
def _keep_app(
    access: ProjectAccess, publishing: Publishing, app_id: str, made: NewApp, ip: str | None
) -> GitHubApp:
    row = GitHubApp(id=app_id, team=access.team.team, number=made.number, name=made.name)
    row.api_url, row.origin, row.page = publishing.api_url, publishing.origin, made.page
    row.client_id, row.created_at = made.client_id, timezone.now()
    row.private_key = encrypt(made.private_key)
    row.webhook_secret = encrypt(made.webhook_secret)
    row.client_secret = encrypt(made.client_secret)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as exc:
        raise Conflict(
            _("The team has a GitHub App already. Delete the new one in GitHub's settings.")
        ) from exc
    _record(access, row, "created", ip)
    return row


async def connect_app(access: ProjectAccess, *, ip: str | None = None) -> GitHubInstallation:
    """Use the team's app for the project, if GitHub says that it is installed for its repository.

    Raises: NotFound without an app; Invalid, saying what is missing; Conflict; Forbidden.
    """
    require_role(access.team, Role.ADMIN)
    app = await in_db(require_app, access)
    path = (await in_db(publishing_of, access.project)).path.lower()
    try:
        key = key_of(app)
        number = await find_installation(key, path)
        token = await new_token(key, number, path, FOR_API)
    except ForgeError as exc:
        if exc.reason in ENDED:
            await in_db(_note_missing, access, exc.reason)
        raise Invalid(exc.worded()) from exc
    row = GitHubInstallation(project=access.project, app=app, number=number, repository=path)
    await in_db(_keep_installation, access, row, token, ip)
    return row


@transaction.atomic
def _keep_installation(
    access: ProjectAccess, row: GitHubInstallation, token: AppToken, ip: str | None
) -> None:
    row.token, row.token_until = encrypt(token.token), token.until
    known = GitHubInstallation.objects.filter(pk=row.pk).first()
    row.save()
    now = timezone.now()
    ProjectForge.objects.get_or_create(project=access.project, defaults={"updated_at": now})
    if known is None or (known.app_id, known.number) != (row.app_id, row.number):
        _record(access, row.app, "connected", ip)


def _note_missing(access: ProjectAccess, reason: ForgeReason) -> None:
    row = GitHubInstallation.objects.filter(pk=access.project.pk).first()
    if row is not None:
        note_problem(row, reason.value)


@transaction.atomic
def disconnect_app(access: ProjectAccess, *, ip: str | None = None) -> None:
    """Use the project's access token again. Raises: NotFound; Forbidden below admin."""
    require_role(access.team, Role.ADMIN)
    row = GitHubInstallation.objects.filter(pk=access.project.pk).select_related("app").first()
    if row is None:
        raise NotFound("Installation")
    _record(access, row.app, "disconnected", ip)
    row.delete()


@transaction.atomic
def remove_app(access: ProjectAccess, *, ip: str | None = None) -> None:
    """Forget the app with its key, for all projects. On GitHub it stays until it is deleted there.

    Raises: as `require_app`; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    app = require_app(access)
    _record(access, app, "removed", ip)
    app.delete()


def problems_of_app(app: GitHubApp, installation: GitHubInstallation | None) -> list[str]:
    """Returns: what stands in the way, as sentences that say what to do."""
    found = []
    if installation is not None and installation.problem:
        found.append(problem_of(installation))
    if app.refused:
        found.append(
            _(
                "GitHub sends deliveries whose signature is wrong. If the webhook secret was "
                "changed in the settings of the app, remove the app here and create a new one."
            )
        )
    return found


def problem_of(installation: GitHubInstallation) -> str:
    """Returns: why it gave no token, in words; empty while it works."""
    cause = read_cause({"reason": installation.problem, "values": {}})
    return cause.worded() if cause else ""


def note_event(app: GitHubApp, event: str, sent: JsonObject) -> bool:
    """Take down what GitHub says of installations. Returns: whether it is about them.

    It is a note for the page: the next token shows how things are.
    Raises: Invalid for what is not of the form that GitHub documents.
    """
    if event not in _ABOUT:
        return False
    rows = app.installations.filter(number=number_in(object_of(sent, "installation"), "id"))
    action = text_of(sent, "action")
    if event == "installation_repositories":
        rows = rows.filter(repository__in=_names(list_of(sent, f"repositories_{action}")))
    match action:
        case "deleted" | "removed":
            reason = ForgeReason.APP_NOT_INSTALLED.value
        case "suspend":
            reason = ForgeReason.APP_SUSPENDED.value
        case "unsuspend" | "added" | "new_permissions_accepted":
            reason = ""
        case _:
            return True
    rows.update(problem=reason, token="", token_until=None)
    return True


def _names(repositories: list[JsonValue]) -> list[str]:
    found = (one for one in repositories if isinstance(one, dict))
    return [text_of(one, "full_name").lower() for one in found]


def _record(access: ProjectAccess, app: GitHubApp, change: str, ip: str | None) -> None:
    record(
        AuditAction.INTEGRATION_UPDATED,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data={"name": access.project.name, "change": f"GitHub App {change}", "app": app.name},
        ip=ip,
    )
