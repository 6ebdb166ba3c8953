"""The rows of webhooks, schedules and service accounts, and the whole table with them."""

from __future__ import annotations

from dataclasses import asdict

from django.utils import timezone

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.ids import new_id
from sessions.access import access_project
from sessions.actions.schedules import ScheduleDraft, create_schedule
from sessions.actions.webhooks import create_webhook
from sessions.events.outbox import delivery
from sessions.integrations.system import Found
from sessions.models import (
    GitHubApp,
    InboundDelivery,
    Integration,
    IntegrationRule,
    LinkedAccount,
    Project,
    ProjectForge,
    SlackWorkspace,
    TeamPlugin,
)
from teams.access import access_team
from teams.actions.services import create_service, create_service_token
from teams.auth import authenticate_user
from teams.models import Erasure, LegalHold, Role, Scope, User
from tests.architecture import access_people, access_table, page_session, page_table
from tests.architecture.access_people import API_ADMIN, NO_TOKEN, make_people
from tests.architecture.access_table import API_GOVERN, API_READ, API_WRITE, Codes, Row
from tests.architecture.page_table import ADMIN_READ, EMPTY_GOVERN, EMPTY_WRITE, GOVERN, READ

_HERE = "?directory={directory}"
_P = "t/<slug:team>/p/<str:project>/"
_T = _P + "trackers/<str:tracker>/"
_I = "project/<project_id>/integration"
_W = "t/<slug:team>/settings/webhooks/"
_OF = "?team=acme"
_MORE = {"budgetID": 0, "amount": 5, "reason": "To go on"}
_HOOK = {"url": "https://example.com/hook", "events": ["session.idle"]}
_L = _P + "schedules/<str:schedule>"
_PLAN = {"name": "Nightly", "prompt": "hi", "cron": "30 6 * * 1"}

_SET = "t/<slug:team>/settings/"
_OWN: Codes = (302, 403, 403, 403, 404, 302)
_NONE: Codes = (404, 404, 403, 403, 404, 302)
_OWN_API: Codes = (200, 403, 403, 403, 404, 401)
_UNSENT: Codes = (400, 400, 403, 403, 404, 401)
_LATE: Codes = (409, 409, 404, 404, 404, 401)


def _of_integration(at: str) -> list[Row]:
    at = _P + at
    return [
        Row("get", at, READ),
        Row("post", at, EMPTY_GOVERN),
        Row("get", at + "/remove", ADMIN_READ),
        Row("post", at + "/remove", GOVERN),
        Row("post", at + "/link", (200, 200, 200, 403, 404, 302)),
        # Of the owner; admins see everybody's.
        Row("post", at + "/link/<int:linked>", (302, 302, 404, 404, 404, 302)),
        Row("get", at + "/rules", ADMIN_READ),
        Row("post", at + "/rules", EMPTY_GOVERN),
    ]


PAGES = [
    *page_table.PAGES,
    *page_session.PAGES,
    Row("get", _SET + "approvals", READ),
    Row("post", _SET + "approvals", _OWN, {"merge": "on"}),
    # It takes an admin; nothing is said to be done with it.
    Row("post", _SET + "approvals/<str:change>", (400, 400, 404, 404, 404, 302)),
    Row("get", _SET + "retention", ADMIN_READ),
    Row("post", _SET + "retention", GOVERN),
    Row("post", _SET + "holds", (422, 403, 403, 403, 404, 302)),
    Row("post", _SET + "holds/<str:hold>/release", _OWN),
    Row("get", _SET + "export", (200, 403, 403, 403, 404, 302)),
    Row("post", _SET + "export", _OWN),
    # It has expired.
    Row("get", _SET + "export/<str:export>", (404, 403, 403, 403, 404, 302)),
    Row("get", _SET + "erase", (200, 403, 403, 403, 404, 302)),
    Row("post", _SET + "erase", (422, 403, 403, 403, 404, 302)),
    # Who has asked for it was nobody of the cast.
    Row("get", "erasures/<str:erasure>", page_table.NO_ACCOUNT),
    *access_people.PAGES,
    Row("get", _P + "schedules", READ),
    Row("post", _P + "schedules", EMPTY_WRITE),
    # Another member's: its author is alice.
    Row("get", _L, READ),
    Row("post", _L, EMPTY_GOVERN),
    Row("post", _L + "/run", GOVERN),
    Row("post", _L + "/paused", GOVERN, {"paused": "1"}),
    Row("get", _L + "/delete", ADMIN_READ),
    Row("post", _L + "/delete", GOVERN),
    *_of_integration("integration"),
    *_of_integration("trackers/<str:tracker>"),
    Row("post", _P + "integration/secret", ADMIN_READ),
    Row("post", _P + "integration/again/<str:failed>", GOVERN),
    Row("get", _P + "integration/rules/<str:forge_rule>", ADMIN_READ),
    Row("post", _P + "integration/rules/<str:forge_rule>", EMPTY_GOVERN),
    Row("get", _P + "integration/rules/<str:forge_rule>/remove", ADMIN_READ),
    Row("post", _P + "integration/rules/<str:forge_rule>/remove", GOVERN),
    # They are the forge's.
    Row("post", _T + "again/<str:failed>", _NONE),
    *(Row(verb, _T + "rules/<str:forge_rule>", _NONE) for verb in ("get", "post")),
    Row("post", _T + "rules/<str:forge_rule>/up", _NONE),
    *(Row(verb, _T + "rules/<str:forge_rule>/remove", _NONE) for verb in ("get", "post")),
    Row("post", _P + "integration/rules/<str:forge_rule>/up", GOVERN),
    Row("get", _P + "integration/app", ADMIN_READ),
    # Without what GitHub sends along, they lead back to the page.
    Row("get", _P + "integration/app/created", GOVERN),
    Row("get", _P + "integration/app/installed", GOVERN),
    Row("post", _P + "integration/app/connect", GOVERN),
    Row("post", _P + "integration/app/disconnect", GOVERN),
    Row("get", _P + "integration/app/remove", ADMIN_READ),
    Row("post", _P + "integration/app/remove", GOVERN),
    # Without the secret of the forge.
    Row("post", "integrations/<str:integration>", NO_TOKEN),
    Row("post", "integrations/github/<str:github_app>", NO_TOKEN),
    Row("post", "integrations/slack/<str:integration>", (404,) * 6),
    Row("get", _SET + "slack", READ),
    # Without a token to ask Slack about.
    Row("post", _SET + "slack", EMPTY_GOVERN),
    Row("get", _SET + "slack/remove", (200, 200, 403, 403, 404, 302)),
    Row("post", _SET + "slack/remove", GOVERN),
    Row("post", _SET + "slack/channels", EMPTY_GOVERN),
    Row("post", _SET + "slack/channels/<int:channel>/remove", GOVERN),
    Row("post", _SET + "slack/again/<str:slack_failed>", GOVERN),
    Row("post", _SET + "slack/link", (200, 200, 200, 403, 404, 302)),
    Row("post", _SET + "slack/link/<int:linked>", (302, 302, 404, 404, 404, 302)),
    Row("get", _W, ADMIN_READ),
    Row("post", _W, EMPTY_GOVERN),
    Row("get", _W + "w/<str:webhook>", ADMIN_READ),
    Row("post", _W + "w/<str:webhook>", EMPTY_GOVERN),
    Row("post", _W + "w/<str:webhook>/secret", ADMIN_READ),
    Row("post", _W + "w/<str:webhook>/enabled", GOVERN),
    Row("post", _W + "w/<str:webhook>/ping", GOVERN),
    Row("get", _W + "w/<str:webhook>/delete", ADMIN_READ),
    Row("post", _W + "w/<str:webhook>/delete", GOVERN),
    Row("post", _W + "w/<str:webhook>/delivery/<str:delivery>/again", GOVERN),
]

API = [
    *access_table.API,
    *access_people.API,
    Row("get", "service-account", API_ADMIN, query=_OF),
    Row("post", "service-account", API_ADMIN, {"name": "CI"}, query=_OF),
    Row("get", "service-account/<account_id>", API_ADMIN, query=_OF),
    Row("patch", "service-account/<account_id>", API_ADMIN, {"enabled": False}, query=_OF),
    Row("delete", "service-account/<account_id>", API_ADMIN, query=_OF),
    Row("post", "service-account/<account_id>/token", API_ADMIN, {"name": "CI"}, query=_OF),
    Row("delete", "service-account/<account_id>/token/<key_id>", API_ADMIN, query=_OF),
    Row("get", "integration", API_READ, query=_OF),
    Row("get", _I, API_READ),
    Row("put", _I, API_GOVERN, {}),
    # No such key: the tracker is not asked.
    Row("put", "project/<project_id>/tracker/<tracker>", _UNSENT, {"teamKey": "A", "apiKey": "ä"}),
    Row("delete", _I, API_GOVERN),
    Row("post", _I + "/secret", API_GOVERN),
    Row("get", _I + "/rule", API_GOVERN),
    Row("post", _I + "/rule", API_GOVERN, {"trigger": "issue_opened", "prompt": "Look"}),
    Row("get", _I + "/rule/<forge_rule_id>", API_GOVERN),
    Row("patch", _I + "/rule/<forge_rule_id>", API_GOVERN, {"enabled": False}),
    Row("delete", _I + "/rule/<forge_rule_id>", API_GOVERN),
    Row("get", _I + "/delivery", API_GOVERN),
    Row("post", _I + "/delivery/<inbound_id>/retry", API_GOVERN),
    Row("get", "schedule", API_READ, query=_HERE),
    Row("post", "schedule", API_WRITE, _PLAN, query=_HERE),
    Row("get", "schedule/<schedule_id>", API_READ),
    Row("patch", "schedule/<schedule_id>", API_GOVERN, {"paused": True}),
    Row("delete", "schedule/<schedule_id>", API_GOVERN),
    Row("get", "schedule/<schedule_id>/run", API_READ),
    Row("post", "schedule/<schedule_id>/run", API_GOVERN),
    Row("get", "usage", API_READ, query=_OF),
    Row("get", "erasure", access_table.API_OWN),
    # A session of it runs.
    Row("post", "erasure", (409, *_OWN_API[1:]), {"confirm": "acme"}, query=_OF),
    # As above.
    Row("get", "erasure/<erasure_id>", access_table.NOWHERE),
    Row("get", "audit", API_ADMIN, query=_OF),
    Row("get", "audit/head", API_ADMIN, query=_OF),
    Row("get", "budget", API_READ, query=_OF),
    Row("put", "budget", API_ADMIN, {"team": 5}, query=_OF),
    Row("get", "budget/limits", API_READ, query=_OF),
    Row("put", "budget/limits", API_ADMIN, {"scope": "each", "limit": 5}, query=_OF),
    Row("delete", "budget/limits/<budget_id>", API_ADMIN, query=_OF),
    Row("get", "budget/requests", API_READ, query=_OF),
    # None that holds for them.
    Row("post", "budget/requests", (400, 400, 400, 403, 404, 401), _MORE, query=_OF),
    Row("post", "budget/requests/<ask_id>", (200, 200, 404, 404, 404, 401), {}, query=_OF),
    Row("get", "approval", API_READ, query=_OF),
    Row("put", "approval", _OWN_API, {"kinds": ["merge"]}, query=_OF),
    Row("get", "approval/requests", API_READ, query=_OF),
    # Its time is over.
    Row("post", "approval/requests/<change_id>", _LATE, {"act": "withdraw"}, query=_OF),
    Row("get", "webhook", API_ADMIN, query=_OF),
    Row("post", "webhook", API_ADMIN, _HOOK, query=_OF),
    Row("get", "webhook/<webhook_id>", API_ADMIN, query=_OF),
    Row("patch", "webhook/<webhook_id>", API_ADMIN, {"enabled": False}, query=_OF),
    Row("delete", "webhook/<webhook_id>", API_ADMIN, query=_OF),
    Row("post", "webhook/<webhook_id>/secret", API_ADMIN, query=_OF),
    Row("post", "webhook/<webhook_id>/ping", API_ADMIN, query=_OF),
    Row("get", "webhook/<webhook_id>/delivery", API_ADMIN, query=_OF),
    Row(
        "post",
        "webhook/<webhook_id>/delivery/<delivery_id>/redeliver",
        API_ADMIN,
        query=_OF,
    ),
]


def _make_integration(owner: User, project: Project) -> dict[str, str]:
    now = timezone.now()
    made = {"project": project, "kind": "github", "secret": encrypt("s3cret"), "command": "/oc"}
    made["team"] = project.team
    row = Integration.objects.create(id=new_id("igr"), created_at=now, **made)
    given_up = {"state": "failed", "next_at": now, "received_at": now}
    failed = InboundDelivery.objects.create(id=new_id("ind"), integration=row, **given_up)
    account = {"host": "github.com", "outside_id": "1", "name": "alice", "linked_at": now}
    linked = LinkedAccount.objects.create(team=project.team, user=owner, **account)
    about = {"integration": row, "trigger": "issue_opened", "prompt": "Look", "created_at": now}
    for position in (1, 2):
        rule = IntegrationRule.objects.create(id=new_id("rul"), position=position, **about)
    ProjectForge.objects.create(
        project=project, remote_url="https://github.com/acme/till.git", updated_at=now
    )
    found = Found(workspace="w", host="linear.app/acme", path="ENG", name="Acme", account="a")
    made |= {"kind": "linear", "is_tracker": True, "outside": asdict(found)}
    Integration.objects.create(id=new_id("igr"), created_at=now, **made)
    app = GitHubApp(id=new_id("gha"), team=project.team, number=1, name="Acme", created_at=now)
    app.api_url, app.origin = "https://api.github.com", "https://github.com"
    app.private_key = app.webhook_secret = encrypt("s3cret")
    app.save()
    app.installations.create(project=project, number=1, repository="acme/till")
    of_team = Integration(id=new_id("igr"), team=project.team, kind="slack", created_at=now)
    of_team.save()
    workspace = SlackWorkspace(integration=of_team, workspace="T0ACME", name="Acme")
    workspace.bot_token = encrypt("xoxb-none")
    workspace.save()
    slack_failed = of_team.deliveries.create(id=new_id("ind"), **given_up)
    channel = workspace.channels.create(channel="C0TILL", name="till", project=project)
    return {
        "integration": row.pk,
        "github_app": app.pk,
        "slack_failed": slack_failed.pk,
        **dict.fromkeys(("failed", "inbound_id"), failed.pk),
        "linked": str(linked.pk),
        **dict.fromkeys(("forge_rule", "forge_rule_id"), rule.pk),
        "tracker": "linear",
        "channel": str(channel.pk),
    }


def make_automation(owner: User, project: Project) -> dict[str, str]:
    """What the routes of these rows name."""
    team = access_team(owner, project.team_id)
    hook, _ = create_webhook(team, url="https://example.com/hook", events=["session.idle"])
    sent = delivery(hook, "ping", {})
    sent.state = "failed"
    sent.save()
    plan = create_schedule(
        access_project(authenticate_user(owner), project.pk),
        ScheduleDraft("Nightly", "hi", "30 6 * * 1", model="demo/inline"),
    )
    service = create_service(team, name="Runner", role=Role.MEMBER)
    key, _ = create_service_token(team, service, name="CI", scope=Scope.READ)
    plugin = TeamPlugin(team=team.team, name="one", version="1.0.0", added_at=timezone.now())
    plugin.digest = "d" * 64
    plugin.save()
    erased = Erasure.objects.create(kind="team", subject="team_0", state="done")
    return {
        "plugin": str(plugin.pk),
        **make_people(owner, project.team),
        "webhook": hook.pk,
        "webhook_id": hook.pk,
        "delivery": sent.pk,
        "delivery_id": sent.pk,
        "schedule": plan.pk,
        "schedule_id": plan.pk,
        **_make_integration(owner, project),
        "account_id": str(service.user_id),
        "key_id": key.pk,
        "export": "exp_none",
        **dict.fromkeys(("erasure", "erasure_id"), erased.pk),
        # Of a session that is nobody's, so that nothing here is held.
        "hold": LegalHold.objects.create(team=team.team, scope="session", session="ses_0").pk,
    }
