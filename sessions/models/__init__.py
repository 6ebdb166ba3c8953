"""Rows: the event log and what is folded from it. No I/O, no events, no permission logic here."""

from __future__ import annotations

from sessions.models.audit_stream import AuditCursor
from sessions.models.backup import Backup
from sessions.models.change_request import ChangeKind, ChangeRequest
from sessions.models.checkout import Checkout
from sessions.models.compaction import Compaction
from sessions.models.compared import ComparedSession
from sessions.models.custom_tool import ToolDescription
from sessions.models.epoch import ContextEpoch
from sessions.models.event import Event
from sessions.models.forge import ProjectForge, PullRequest
from sessions.models.github_app import GitHubApp, GitHubInstallation
from sessions.models.inbox import SessionInput
from sessions.models.integration import (
    SLACK,
    Conversation,
    InboundDelivery,
    Integration,
    LinkedAccount,
    OutsideReply,
)
from sessions.models.integration_rule import IntegrationRule
from sessions.models.kept_draft import KeptDraft
from sessions.models.language_server import LanguageServer
from sessions.models.mcp_program import McpProgram
from sessions.models.mcp_server import McpServer
from sessions.models.mcp_sign_in import McpSignIn, McpSignInAttempt
from sessions.models.message import Message, Part
from sessions.models.notification import (
    Notification,
    NotificationKind,
    PushKey,
    PushSubscription,
)
from sessions.models.permission import AdminsAsked, PermissionRequest, RuleScope, SavedRule
from sessions.models.pin import Pin
from sessions.models.preview import Preview
from sessions.models.process import ServerProcess
from sessions.models.project import Project
from sessions.models.project_member import ProjectMember
from sessions.models.question import QuestionRequest
from sessions.models.review import ReviewComment, ViewedFile
from sessions.models.rule_source import RuleSource
from sessions.models.run import Run
from sessions.models.running_command import RunningCommand
from sessions.models.sample import ServerSample
from sessions.models.schedule import Schedule, ScheduleRun
from sessions.models.search import TeamSearch
from sessions.models.secret import AllowedKey, HeldInput, ProjectSecret, TeamSecret
from sessions.models.seen_file import SeenFile
from sessions.models.session import Outcome, Session, State, WaitsFor
from sessions.models.share import Share
from sessions.models.skill import SkillIndex, TeamSkill
from sessions.models.slack import SlackChannel, SlackWorkspace
from sessions.models.team_folder import TeamFolder
from sessions.models.team_plugin import TeamPlugin
from sessions.models.terminal import Terminal, TerminalTicket
from sessions.models.todo import TodoList
from sessions.models.token_default import TokenDefault
from sessions.models.trust import RepositoryTrust
from sessions.models.webhook import OwnWebhook, Receiver, Webhook, WebhookDelivery

__all__ = [
    "SLACK",
    "AdminsAsked",
    "AllowedKey",
    "AuditCursor",
    "Backup",
    "ChangeKind",
    "ChangeRequest",
    "Checkout",
    "Compaction",
    "ComparedSession",
    "ContextEpoch",
    "Conversation",
    "Event",
    "GitHubApp",
    "GitHubInstallation",
    "HeldInput",
    "InboundDelivery",
    "Integration",
    "IntegrationRule",
    "KeptDraft",
    "LanguageServer",
    "LinkedAccount",
    "McpProgram",
    "McpServer",
    "McpSignIn",
    "McpSignInAttempt",
    "Message",
    "Notification",
    "NotificationKind",
    "Outcome",
    "OutsideReply",
    "OwnWebhook",
    "Part",
    "PermissionRequest",
    "Pin",
    "Preview",
    "Project",
    "ProjectForge",
    "ProjectMember",
    "ProjectSecret",
    "PullRequest",
    "PushKey",
    "PushSubscription",
    "QuestionRequest",
    "Receiver",
    "RepositoryTrust",
    "ReviewComment",
    "RuleScope",
    "RuleSource",
    "Run",
    "RunningCommand",
    "SavedRule",
    "Schedule",
    "ScheduleRun",
    "SeenFile",
    "ServerProcess",
    "ServerSample",
    "Session",
    "SessionInput",
    "Share",
    "SkillIndex",
    "SlackChannel",
    "SlackWorkspace",
    "State",
    "TeamFolder",
    "TeamPlugin",
    "TeamSearch",
    "TeamSecret",
    "TeamSkill",
    "Terminal",
    "TerminalTicket",
    "TodoList",
    "TokenDefault",
    "ToolDescription",
    "ViewedFile",
    "WaitsFor",
    "Webhook",
    "WebhookDelivery",
]
