"""Contains all the data models used in inputs/outputs"""

from .adapter import Adapter
from .admit_body import AdmitBody
from .admit_body_delivery import AdmitBodyDelivery
from .admitted import Admitted
from .admitted_input import AdmittedInput
from .admitted_input_delivery import AdmittedInputDelivery
from .after_query import AfterQuery
from .agent import Agent
from .agent_choice import AgentChoice
from .agent_mode import AgentMode
from .agent_model import AgentModel
from .agent_options import AgentOptions
from .agent_part import AgentPart
from .agent_part_source import AgentPartSource
from .agent_rule import AgentRule
from .agent_rule_effect import AgentRuleEffect
from .agent_v2 import AgentV2
from .agent_v2_mode import AgentV2Mode
from .answer_message import AnswerMessage
from .append_prompt import AppendPrompt
from .asked_v2 import AskedV2
from .assistant_message import AssistantMessage
from .assistant_message_v2 import AssistantMessageV2
from .attempt import Attempt
from .attempt_mode import AttemptMode
from .attempt_status import AttemptStatus
from .attempt_status_status import AttemptStatusStatus
from .attempt_time import AttemptTime
from .auth_body import AuthBody
from .auth_body_metadata_type_0 import AuthBodyMetadataType0
from .auth_body_type import AuthBodyType
from .auth_method import AuthMethod
from .auth_method_type import AuthMethodType
from .authorization import Authorization
from .authorization_method import AuthorizationMethod
from .authorize_body import AuthorizeBody
from .authorize_body_inputs import AuthorizeBodyInputs
from .broken_file import BrokenFile
from .budget_body import BudgetBody
from .budget_of_member import BudgetOfMember
from .budget_standing import BudgetStanding
from .budgets import Budgets
from .cache_cost import CacheCost
from .cache_tokens import CacheTokens
from .cache_tokens_v2 import CacheTokensV2
from .call_completed import CallCompleted
from .call_completed_input import CallCompletedInput
from .call_completed_structured import CallCompletedStructured
from .call_content import CallContent
from .call_failed import CallFailed
from .call_failed_input import CallFailedInput
from .call_failed_structured import CallFailedStructured
from .call_pending import CallPending
from .call_running import CallRunning
from .call_running_input import CallRunningInput
from .call_running_structured import CallRunningStructured
from .call_source import CallSource
from .call_time import CallTime
from .call_v2 import CallV2
from .callback_body import CallbackBody
from .capabilities import Capabilities
from .capabilities_v2 import CapabilitiesV2
from .code_body import CodeBody
from .command import Command
from .command_body import CommandBody
from .command_body_delivery import CommandBodyDelivery
from .command_body_parts_item import CommandBodyPartsItem
from .command_execute_event import CommandExecuteEvent
from .command_source import CommandSource
from .command_v2 import CommandV2
from .commit_body import CommitBody
from .compact_body import CompactBody
from .compaction_part import CompactionPart
from .compaction_v2 import CompactionV2
from .compaction_v2_reason import CompactionV2Reason
from .config_get_response_200 import ConfigGetResponse200
from .config_update_patch import ConfigUpdatePatch
from .config_update_response_200 import ConfigUpdateResponse200
from .console import Console
from .copy import Copy
from .copy_body import CopyBody
from .copy_folder import CopyFolder
from .copy_name import CopyName
from .cost import Cost
from .cost_v2 import CostV2
from .created_time import CreatedTime
from .cursors import Cursors
from .delivery import Delivery
from .delivery_payload import DeliveryPayload
from .delivery_state import DeliveryState
from .diff_query import DiffQuery
from .diff_query_mode import DiffQueryMode
from .done import Done
from .done_time import DoneTime
from .durable_at import DurableAt
from .durable_event import DurableEvent
from .durable_event_data import DurableEventData
from .entry import Entry
from .entry_type import EntryType
from .execute_command import ExecuteCommand
from .experimental_resource_list_response_200 import ExperimentalResourceListResponse200
from .exported import Exported
from .extra_of_request import ExtraOfRequest
from .extra_of_request_body import ExtraOfRequestBody
from .extra_of_request_headers import ExtraOfRequestHeaders
from .failure import Failure
from .fault import Fault
from .fault_data import FaultData
from .file import File
from .file_body import FileBody
from .file_content import FileContent
from .file_content_type import FileContentType
from .file_diff import FileDiff
from .file_diff_status import FileDiffStatus
from .file_node import FileNode
from .file_node_type import FileNodeType
from .file_part import FilePart
from .file_part_refused import FilePartRefused
from .file_part_source import FilePartSource
from .file_patch import FilePatch
from .file_search import FileSearch
from .file_search_dirs import FileSearchDirs
from .file_search_type_type_0 import FileSearchTypeType0
from .file_status import FileStatus
from .find_files_dirs import FindFilesDirs
from .find_files_type_type_0 import FindFilesTypeType0
from .find_query import FindQuery
from .find_query_type_type_0 import FindQueryTypeType0
from .folder import Folder
from .folder_body import FolderBody
from .folder_of_reference import FolderOfReference
from .fork_body import ForkBody
from .formatter import Formatter
from .found_line import FoundLine
from .global_config_get_response_200 import GlobalConfigGetResponse200
from .global_config_update_patch import GlobalConfigUpdatePatch
from .global_config_update_response_200 import GlobalConfigUpdateResponse200
from .global_filter import GlobalFilter
from .global_session import GlobalSession
from .health import Health
from .health_v2 import HealthV2
from .history import History
from .history_query import HistoryQuery
from .hunk import Hunk
from .ignored_setting import IgnoredSetting
from .import_body import ImportBody
from .import_body_info import ImportBodyInfo
from .init_body import InitBody
from .input_order import InputOrder
from .input_patch import InputPatch
from .input_patch_delivery_type_0 import InputPatchDeliveryType0
from .integration import Integration
from .key_connection import KeyConnection
from .key_method import KeyMethod
from .key_of_team import KeyOfTeam
from .label_body import LabelBody
from .language_server import LanguageServer
from .language_server_status import LanguageServerStatus
from .limit_v2 import LimitV2
from .log_body import LogBody
from .log_body_extra_type_0 import LogBodyExtraType0
from .log_body_level import LogBodyLevel
from .made_service_token import MadeServiceToken
from .made_service_token_scope import MadeServiceTokenScope
from .match_text import MatchText
from .mcp_add_response_200 import McpAddResponse200
from .mcp_auth import McpAuth
from .mcp_body import McpBody
from .mcp_body_config import McpBodyConfig
from .mcp_connected import McpConnected
from .mcp_disabled import McpDisabled
from .mcp_failed import McpFailed
from .mcp_needs_auth import McpNeedsAuth
from .mcp_needs_registration import McpNeedsRegistration
from .mcp_status_response_200 import McpStatusResponse200
from .media import Media
from .member_budget import MemberBudget
from .message import Message
from .message_error import MessageError
from .message_error_data import MessageErrorData
from .message_model import MessageModel
from .message_path import MessagePath
from .message_time import MessageTime
from .message_time_v2 import MessageTimeV2
from .model import Model
from .model_api import ModelApi
from .model_api_v2 import ModelApiV2
from .model_choice import ModelChoice
from .model_headers import ModelHeaders
from .model_limit import ModelLimit
from .model_name import ModelName
from .model_options import ModelOptions
from .model_status import ModelStatus
from .model_v2 import ModelV2
from .model_v2_status import ModelV2Status
from .model_variants import ModelVariants
from .model_variants_additional_property import ModelVariantsAdditionalProperty
from .move_body import MoveBody
from .move_destination import MoveDestination
from .name_body import NameBody
from .new_token_out import NewTokenOut
from .new_worktree import NewWorktree
from .o_auth_connection import OAuthConnection
from .o_auth_connection_inputs import OAuthConnectionInputs
from .o_auth_method import OAuthMethod
from .option_v2 import OptionV2
from .org import Org
from .orgs import Orgs
from .page_query import PageQuery
from .page_query_order import PageQueryOrder
from .pagedlist_message_v2 import PagedlistMessageV2
from .pagedlist_session_v2 import PagedlistSessionV2
from .part_model import PartModel
from .part_time import PartTime
from .part_update_body import PartUpdateBody
from .patch_body import PatchBody
from .patch_part import PatchPart
from .path import Path
from .permission_reply import PermissionReply
from .permission_reply_reply import PermissionReplyReply
from .permission_request import PermissionRequest
from .permission_request_metadata import PermissionRequestMetadata
from .permission_response import PermissionResponse
from .permission_response_response import PermissionResponseResponse
from .permission_rule import PermissionRule
from .permission_rule_action import PermissionRuleAction
from .permission_v2 import PermissionV2
from .permission_v2_metadata import PermissionV2Metadata
from .place import Place
from .place_project import PlaceProject
from .place_ref import PlaceRef
from .placed_attempt import PlacedAttempt
from .placed_attempt_status import PlacedAttemptStatus
from .placed_integration import PlacedIntegration
from .placed_provider_v2 import PlacedProviderV2
from .placed_pty import PlacedPty
from .placed_ticket import PlacedTicket
from .placedlist_agent_v2 import PlacedlistAgentV2
from .placedlist_command_v2 import PlacedlistCommandV2
from .placedlist_entry import PlacedlistEntry
from .placedlist_integration import PlacedlistIntegration
from .placedlist_model_v2 import PlacedlistModelV2
from .placedlist_permission_v2 import PlacedlistPermissionV2
from .placedlist_provider_v2 import PlacedlistProviderV2
from .placedlist_pty import PlacedlistPty
from .placedlist_question_v2 import PlacedlistQuestionV2
from .placedlist_reference_v2 import PlacedlistReferenceV2
from .placedlist_skill_v2 import PlacedlistSkillV2
from .position import Position
from .project import Project
from .project_commands import ProjectCommands
from .project_create import ProjectCreate
from .project_directory import ProjectDirectory
from .project_icon import ProjectIcon
from .project_of_session import ProjectOfSession
from .project_patch import ProjectPatch
from .project_times import ProjectTimes
from .prompt_agent import PromptAgent
from .prompt_append_event import PromptAppendEvent
from .prompt_body import PromptBody
from .prompt_body_delivery import PromptBodyDelivery
from .prompt_body_format_type_0 import PromptBodyFormatType0
from .prompt_body_parts_item import PromptBodyPartsItem
from .prompt_body_tools_type_0 import PromptBodyToolsType0
from .prompt_file import PromptFile
from .prompt_input import PromptInput
from .prompt_model import PromptModel
from .prompt_option import PromptOption
from .prompt_summary import PromptSummary
from .prompt_text import PromptText
from .prompt_when import PromptWhen
from .prompt_when_op import PromptWhenOp
from .provider import Provider
from .provider_api_v2 import ProviderApiV2
from .provider_auth_response_200 import ProviderAuthResponse200
from .provider_models import ProviderModels
from .provider_options import ProviderOptions
from .provider_source import ProviderSource
from .provider_v2 import ProviderV2
from .providers import Providers
from .providers_default import ProvidersDefault
from .pty import Pty
from .pty_status import PtyStatus
from .push_body import PushBody
from .put_config_patch import PutConfigPatch
from .put_config_response_200 import PutConfigResponse200
from .question_info import QuestionInfo
from .question_option import QuestionOption
from .question_reply import QuestionReply
from .question_request import QuestionRequest
from .question_v2 import QuestionV2
from .range_ import Range
from .reasoning_field import ReasoningField
from .reasoning_part import ReasoningPart
from .reasoning_part_metadata import ReasoningPartMetadata
from .reasoning_v2 import ReasoningV2
from .reference_v2 import ReferenceV2
from .released import Released
from .replay_body import ReplayBody
from .replay_body_events_item import ReplayBodyEventsItem
from .repository_config import RepositoryConfig
from .resource import Resource
from .retry_part import RetryPart
from .retry_part_time import RetryPartTime
from .revert import Revert
from .revert_body import RevertBody
from .revert_file_body import RevertFileBody
from .revert_stage import RevertStage
from .revert_v2 import RevertV2
from .reverted_file import RevertedFile
from .reverted_file_status import RevertedFileStatus
from .run_times import RunTimes
from .saved_permission import SavedPermission
from .schedule import Schedule
from .schedule_body import ScheduleBody
from .schedule_patch import SchedulePatch
from .schedule_run import ScheduleRun
from .schedule_run_state import ScheduleRunState
from .schedule_times import ScheduleTimes
from .schema_format import SchemaFormat
from .schema_format_schema import SchemaFormatSchema
from .scope import Scope
from .select_prompt import SelectPrompt
from .select_session import SelectSession
from .sequence_numbers import SequenceNumbers
from .server_capabilities import ServerCapabilities
from .service_account import ServiceAccount
from .service_account_role import ServiceAccountRole
from .service_body import ServiceBody
from .service_body_role import ServiceBodyRole
from .service_patch import ServicePatch
from .service_patch_role_type_0 import ServicePatchRoleType0
from .service_token import ServiceToken
from .service_token_scope import ServiceTokenScope
from .session import Session
from .session_create import SessionCreate
from .session_create_metadata_type_0 import SessionCreateMetadataType0
from .session_filter import SessionFilter
from .session_model import SessionModel
from .session_patch import SessionPatch
from .session_patch_metadata_type_0 import SessionPatchMetadataType0
from .session_select_event import SessionSelectEvent
from .session_start import SessionStart
from .session_status_response_200 import SessionStatusResponse200
from .session_time import SessionTime
from .session_time_v2 import SessionTimeV2
from .session_v2 import SessionV2
from .sessions_query import SessionsQuery
from .sessions_query_order import SessionsQueryOrder
from .shell import Shell
from .shell_body import ShellBody
from .skill import Skill
from .skill_v2 import SkillV2
from .snapshot_part import SnapshotPart
from .status import Status
from .steal_body import StealBody
from .step_finish_part import StepFinishPart
from .step_start_part import StepStartPart
from .submatch import Submatch
from .subtask_part import SubtaskPart
from .summarize_body import SummarizeBody
from .switch_body import SwitchBody
from .symbol import Symbol
from .symbol_place import SymbolPlace
from .synced_event import SyncedEvent
from .synced_event_data import SyncedEventData
from .synced_session import SyncedSession
from .terminal_create import TerminalCreate
from .terminal_create_env import TerminalCreateEnv
from .terminal_patch import TerminalPatch
from .terminal_size import TerminalSize
from .text_format import TextFormat
from .text_part import TextPart
from .text_part_metadata import TextPartMetadata
from .text_prompt import TextPrompt
from .text_v2 import TextV2
from .ticket import Ticket
from .times import Times
from .toast import Toast
from .toast_show_event import ToastShowEvent
from .toast_variant import ToastVariant
from .todo_item import TodoItem
from .todo_item_priority import TodoItemPriority
from .todo_item_status import TodoItemStatus
from .token_body import TokenBody
from .token_body_scope import TokenBodyScope
from .token_create import TokenCreate
from .token_out import TokenOut
from .tokens import Tokens
from .tokens_v2 import TokensV2
from .tool_completed import ToolCompleted
from .tool_completed_input import ToolCompletedInput
from .tool_completed_metadata import ToolCompletedMetadata
from .tool_failed import ToolFailed
from .tool_failed_input import ToolFailedInput
from .tool_failed_metadata import ToolFailedMetadata
from .tool_item import ToolItem
from .tool_item_parameters import ToolItemParameters
from .tool_part import ToolPart
from .tool_part_metadata import ToolPartMetadata
from .tool_pending import ToolPending
from .tool_pending_input import ToolPendingInput
from .tool_running import ToolRunning
from .tool_running_input import ToolRunningInput
from .tool_running_metadata import ToolRunningMetadata
from .transfer_list_log_response_200_item import TransferListLogResponse200Item
from .tui_request import TuiRequest
from .upgrade_body import UpgradeBody
from .upgraded import Upgraded
from .usable_providers import UsableProviders
from .usable_providers_default import UsableProvidersDefault
from .usage import Usage
from .used import Used
from .used_by_member import UsedByMember
from .used_by_model import UsedByModel
from .used_by_project import UsedByProject
from .used_cache import UsedCache
from .used_on_day import UsedOnDay
from .used_tokens import UsedTokens
from .user_info import UserInfo
from .user_info_tools import UserInfoTools
from .user_message_v2 import UserMessageV2
from .v2_agent_list_location import V2AgentListLocation
from .v2_command_list_location import V2CommandListLocation
from .v2_credential_remove_location import V2CredentialRemoveLocation
from .v2_credential_update_location import V2CredentialUpdateLocation
from .v2_fs_find_location import V2FsFindLocation
from .v2_fs_find_type_type_0 import V2FsFindTypeType0
from .v2_fs_list_location import V2FsListLocation
from .v2_fs_read_location import V2FsReadLocation
from .v2_integration_attempt_cancel_location import V2IntegrationAttemptCancelLocation
from .v2_integration_attempt_complete_location import (
    V2IntegrationAttemptCompleteLocation,
)
from .v2_integration_attempt_status_location import V2IntegrationAttemptStatusLocation
from .v2_integration_connect_key_location import V2IntegrationConnectKeyLocation
from .v2_integration_connect_oauth_location import V2IntegrationConnectOauthLocation
from .v2_integration_get_location import V2IntegrationGetLocation
from .v2_integration_list_location import V2IntegrationListLocation
from .v2_location_get_location import V2LocationGetLocation
from .v2_model_list_location import V2ModelListLocation
from .v2_permission_request_list_location import V2PermissionRequestListLocation
from .v2_project_copy_create_location import V2ProjectCopyCreateLocation
from .v2_project_copy_refresh_location import V2ProjectCopyRefreshLocation
from .v2_project_copy_remove_location import V2ProjectCopyRemoveLocation
from .v2_provider_get_location import V2ProviderGetLocation
from .v2_provider_list_location import V2ProviderListLocation
from .v2_pty_connect_location import V2PtyConnectLocation
from .v2_pty_connect_token_location import V2PtyConnectTokenLocation
from .v2_pty_create_location import V2PtyCreateLocation
from .v2_pty_get_location import V2PtyGetLocation
from .v2_pty_list_location import V2PtyListLocation
from .v2_pty_remove_location import V2PtyRemoveLocation
from .v2_pty_update_location import V2PtyUpdateLocation
from .v2_question_request_list_location import V2QuestionRequestListLocation
from .v2_reference_list_location import V2ReferenceListLocation
from .v2_session_list_order import V2SessionListOrder
from .v2_session_messages_order import V2SessionMessagesOrder
from .v2_skill_list_location import V2SkillListLocation
from .variant_v2 import VariantV2
from .variant_v2_body import VariantV2Body
from .variant_v2_headers import VariantV2Headers
from .vcs_applied import VcsApplied
from .vcs_diff_mode import VcsDiffMode
from .vcs_file_diff import VcsFileDiff
from .vcs_file_diff_status import VcsFileDiffStatus
from .vcs_file_status import VcsFileStatus
from .vcs_file_status_status import VcsFileStatusStatus
from .vcs_get_response_200 import VcsGetResponse200
from .wait_query import WaitQuery
from .waiting_input import WaitingInput
from .waiting_input_delivery import WaitingInputDelivery
from .waiting_input_status import WaitingInputStatus
from .warp_body import WarpBody
from .webhook import Webhook
from .webhook_create import WebhookCreate
from .webhook_patch import WebhookPatch
from .webhook_with_secret import WebhookWithSecret
from .workspace import Workspace
from .workspace_body import WorkspaceBody
from .workspace_status import WorkspaceStatus
from .workspace_status_status import WorkspaceStatusStatus
from .worktree import Worktree
from .worktree_base import WorktreeBase
from .worktree_body import WorktreeBody
from .worktree_result import WorktreeResult
from .wrapped_message_v2 import WrappedMessageV2
from .wrapped_permission_v2 import WrappedPermissionV2
from .wrapped_revert_v2 import WrappedRevertV2
from .wrapped_session_v2 import WrappedSessionV2
from .wrappeddictstr_json_value import WrappeddictstrJsonValue
from .wrappeddictstr_json_value_data import WrappeddictstrJsonValueData
from .wrappedlist_message_v2 import WrappedlistMessageV2
from .wrappedlist_permission_v2 import WrappedlistPermissionV2
from .wrappedlist_question_v2 import WrappedlistQuestionV2
from .wrappedlist_saved_permission import WrappedlistSavedPermission

__all__ = (
    "Adapter",
    "AdmitBody",
    "AdmitBodyDelivery",
    "Admitted",
    "AdmittedInput",
    "AdmittedInputDelivery",
    "AfterQuery",
    "Agent",
    "AgentChoice",
    "AgentMode",
    "AgentModel",
    "AgentOptions",
    "AgentPart",
    "AgentPartSource",
    "AgentRule",
    "AgentRuleEffect",
    "AgentV2",
    "AgentV2Mode",
    "AnswerMessage",
    "AppendPrompt",
    "AskedV2",
    "AssistantMessage",
    "AssistantMessageV2",
    "Attempt",
    "AttemptMode",
    "AttemptStatus",
    "AttemptStatusStatus",
    "AttemptTime",
    "AuthBody",
    "AuthBodyMetadataType0",
    "AuthBodyType",
    "AuthMethod",
    "AuthMethodType",
    "Authorization",
    "AuthorizationMethod",
    "AuthorizeBody",
    "AuthorizeBodyInputs",
    "BrokenFile",
    "BudgetBody",
    "BudgetOfMember",
    "BudgetStanding",
    "Budgets",
    "CacheCost",
    "CacheTokens",
    "CacheTokensV2",
    "CallCompleted",
    "CallCompletedInput",
    "CallCompletedStructured",
    "CallContent",
    "CallFailed",
    "CallFailedInput",
    "CallFailedStructured",
    "CallPending",
    "CallRunning",
    "CallRunningInput",
    "CallRunningStructured",
    "CallSource",
    "CallTime",
    "CallV2",
    "CallbackBody",
    "Capabilities",
    "CapabilitiesV2",
    "CodeBody",
    "Command",
    "CommandBody",
    "CommandBodyDelivery",
    "CommandBodyPartsItem",
    "CommandExecuteEvent",
    "CommandSource",
    "CommandV2",
    "CommitBody",
    "CompactBody",
    "CompactionPart",
    "CompactionV2",
    "CompactionV2Reason",
    "ConfigGetResponse200",
    "ConfigUpdatePatch",
    "ConfigUpdateResponse200",
    "Console",
    "Copy",
    "CopyBody",
    "CopyFolder",
    "CopyName",
    "Cost",
    "CostV2",
    "CreatedTime",
    "Cursors",
    "Delivery",
    "DeliveryPayload",
    "DeliveryState",
    "DiffQuery",
    "DiffQueryMode",
    "Done",
    "DoneTime",
    "DurableAt",
    "DurableEvent",
    "DurableEventData",
    "Entry",
    "EntryType",
    "ExecuteCommand",
    "ExperimentalResourceListResponse200",
    "Exported",
    "ExtraOfRequest",
    "ExtraOfRequestBody",
    "ExtraOfRequestHeaders",
    "Failure",
    "Fault",
    "FaultData",
    "File",
    "FileBody",
    "FileContent",
    "FileContentType",
    "FileDiff",
    "FileDiffStatus",
    "FileNode",
    "FileNodeType",
    "FilePart",
    "FilePartRefused",
    "FilePartSource",
    "FilePatch",
    "FileSearch",
    "FileSearchDirs",
    "FileSearchTypeType0",
    "FileStatus",
    "FindFilesDirs",
    "FindFilesTypeType0",
    "FindQuery",
    "FindQueryTypeType0",
    "Folder",
    "FolderBody",
    "FolderOfReference",
    "ForkBody",
    "Formatter",
    "FoundLine",
    "GlobalConfigGetResponse200",
    "GlobalConfigUpdatePatch",
    "GlobalConfigUpdateResponse200",
    "GlobalFilter",
    "GlobalSession",
    "Health",
    "HealthV2",
    "History",
    "HistoryQuery",
    "Hunk",
    "IgnoredSetting",
    "ImportBody",
    "ImportBodyInfo",
    "InitBody",
    "InputOrder",
    "InputPatch",
    "InputPatchDeliveryType0",
    "Integration",
    "KeyConnection",
    "KeyMethod",
    "KeyOfTeam",
    "LabelBody",
    "LanguageServer",
    "LanguageServerStatus",
    "LimitV2",
    "LogBody",
    "LogBodyExtraType0",
    "LogBodyLevel",
    "MadeServiceToken",
    "MadeServiceTokenScope",
    "MatchText",
    "McpAddResponse200",
    "McpAuth",
    "McpBody",
    "McpBodyConfig",
    "McpConnected",
    "McpDisabled",
    "McpFailed",
    "McpNeedsAuth",
    "McpNeedsRegistration",
    "McpStatusResponse200",
    "Media",
    "MemberBudget",
    "Message",
    "MessageError",
    "MessageErrorData",
    "MessageModel",
    "MessagePath",
    "MessageTime",
    "MessageTimeV2",
    "Model",
    "ModelApi",
    "ModelApiV2",
    "ModelChoice",
    "ModelHeaders",
    "ModelLimit",
    "ModelName",
    "ModelOptions",
    "ModelStatus",
    "ModelV2",
    "ModelV2Status",
    "ModelVariants",
    "ModelVariantsAdditionalProperty",
    "MoveBody",
    "MoveDestination",
    "NameBody",
    "NewTokenOut",
    "NewWorktree",
    "OAuthConnection",
    "OAuthConnectionInputs",
    "OAuthMethod",
    "OptionV2",
    "Org",
    "Orgs",
    "PageQuery",
    "PageQueryOrder",
    "PagedlistMessageV2",
    "PagedlistSessionV2",
    "PartModel",
    "PartTime",
    "PartUpdateBody",
    "PatchBody",
    "PatchPart",
    "Path",
    "PermissionReply",
    "PermissionReplyReply",
    "PermissionRequest",
    "PermissionRequestMetadata",
    "PermissionResponse",
    "PermissionResponseResponse",
    "PermissionRule",
    "PermissionRuleAction",
    "PermissionV2",
    "PermissionV2Metadata",
    "Place",
    "PlaceProject",
    "PlaceRef",
    "PlacedAttempt",
    "PlacedAttemptStatus",
    "PlacedIntegration",
    "PlacedProviderV2",
    "PlacedPty",
    "PlacedTicket",
    "PlacedlistAgentV2",
    "PlacedlistCommandV2",
    "PlacedlistEntry",
    "PlacedlistIntegration",
    "PlacedlistModelV2",
    "PlacedlistPermissionV2",
    "PlacedlistProviderV2",
    "PlacedlistPty",
    "PlacedlistQuestionV2",
    "PlacedlistReferenceV2",
    "PlacedlistSkillV2",
    "Position",
    "Project",
    "ProjectCommands",
    "ProjectCreate",
    "ProjectDirectory",
    "ProjectIcon",
    "ProjectOfSession",
    "ProjectPatch",
    "ProjectTimes",
    "PromptAgent",
    "PromptAppendEvent",
    "PromptBody",
    "PromptBodyDelivery",
    "PromptBodyFormatType0",
    "PromptBodyPartsItem",
    "PromptBodyToolsType0",
    "PromptFile",
    "PromptInput",
    "PromptModel",
    "PromptOption",
    "PromptSummary",
    "PromptText",
    "PromptWhen",
    "PromptWhenOp",
    "Provider",
    "ProviderApiV2",
    "ProviderAuthResponse200",
    "ProviderModels",
    "ProviderOptions",
    "ProviderSource",
    "ProviderV2",
    "Providers",
    "ProvidersDefault",
    "Pty",
    "PtyStatus",
    "PushBody",
    "PutConfigPatch",
    "PutConfigResponse200",
    "QuestionInfo",
    "QuestionOption",
    "QuestionReply",
    "QuestionRequest",
    "QuestionV2",
    "Range",
    "ReasoningField",
    "ReasoningPart",
    "ReasoningPartMetadata",
    "ReasoningV2",
    "ReferenceV2",
    "Released",
    "ReplayBody",
    "ReplayBodyEventsItem",
    "RepositoryConfig",
    "Resource",
    "RetryPart",
    "RetryPartTime",
    "Revert",
    "RevertBody",
    "RevertFileBody",
    "RevertStage",
    "RevertV2",
    "RevertedFile",
    "RevertedFileStatus",
    "RunTimes",
    "SavedPermission",
    "Schedule",
    "ScheduleBody",
    "SchedulePatch",
    "ScheduleRun",
    "ScheduleRunState",
    "ScheduleTimes",
    "SchemaFormat",
    "SchemaFormatSchema",
    "Scope",
    "SelectPrompt",
    "SelectSession",
    "SequenceNumbers",
    "ServerCapabilities",
    "ServiceAccount",
    "ServiceAccountRole",
    "ServiceBody",
    "ServiceBodyRole",
    "ServicePatch",
    "ServicePatchRoleType0",
    "ServiceToken",
    "ServiceTokenScope",
    "Session",
    "SessionCreate",
    "SessionCreateMetadataType0",
    "SessionFilter",
    "SessionModel",
    "SessionPatch",
    "SessionPatchMetadataType0",
    "SessionSelectEvent",
    "SessionStart",
    "SessionStatusResponse200",
    "SessionTime",
    "SessionTimeV2",
    "SessionV2",
    "SessionsQuery",
    "SessionsQueryOrder",
    "Shell",
    "ShellBody",
    "Skill",
    "SkillV2",
    "SnapshotPart",
    "Status",
    "StealBody",
    "StepFinishPart",
    "StepStartPart",
    "Submatch",
    "SubtaskPart",
    "SummarizeBody",
    "SwitchBody",
    "Symbol",
    "SymbolPlace",
    "SyncedEvent",
    "SyncedEventData",
    "SyncedSession",
    "TerminalCreate",
    "TerminalCreateEnv",
    "TerminalPatch",
    "TerminalSize",
    "TextFormat",
    "TextPart",
    "TextPartMetadata",
    "TextPrompt",
    "TextV2",
    "Ticket",
    "Times",
    "Toast",
    "ToastShowEvent",
    "ToastVariant",
    "TodoItem",
    "TodoItemPriority",
    "TodoItemStatus",
    "TokenBody",
    "TokenBodyScope",
    "TokenCreate",
    "TokenOut",
    "Tokens",
    "TokensV2",
    "ToolCompleted",
    "ToolCompletedInput",
    "ToolCompletedMetadata",
    "ToolFailed",
    "ToolFailedInput",
    "ToolFailedMetadata",
    "ToolItem",
    "ToolItemParameters",
    "ToolPart",
    "ToolPartMetadata",
    "ToolPending",
    "ToolPendingInput",
    "ToolRunning",
    "ToolRunningInput",
    "ToolRunningMetadata",
    "TransferListLogResponse200Item",
    "TuiRequest",
    "UpgradeBody",
    "Upgraded",
    "UsableProviders",
    "UsableProvidersDefault",
    "Usage",
    "Used",
    "UsedByMember",
    "UsedByModel",
    "UsedByProject",
    "UsedCache",
    "UsedOnDay",
    "UsedTokens",
    "UserInfo",
    "UserInfoTools",
    "UserMessageV2",
    "V2AgentListLocation",
    "V2CommandListLocation",
    "V2CredentialRemoveLocation",
    "V2CredentialUpdateLocation",
    "V2FsFindLocation",
    "V2FsFindTypeType0",
    "V2FsListLocation",
    "V2FsReadLocation",
    "V2IntegrationAttemptCancelLocation",
    "V2IntegrationAttemptCompleteLocation",
    "V2IntegrationAttemptStatusLocation",
    "V2IntegrationConnectKeyLocation",
    "V2IntegrationConnectOauthLocation",
    "V2IntegrationGetLocation",
    "V2IntegrationListLocation",
    "V2LocationGetLocation",
    "V2ModelListLocation",
    "V2PermissionRequestListLocation",
    "V2ProjectCopyCreateLocation",
    "V2ProjectCopyRefreshLocation",
    "V2ProjectCopyRemoveLocation",
    "V2ProviderGetLocation",
    "V2ProviderListLocation",
    "V2PtyConnectLocation",
    "V2PtyConnectTokenLocation",
    "V2PtyCreateLocation",
    "V2PtyGetLocation",
    "V2PtyListLocation",
    "V2PtyRemoveLocation",
    "V2PtyUpdateLocation",
    "V2QuestionRequestListLocation",
    "V2ReferenceListLocation",
    "V2SessionListOrder",
    "V2SessionMessagesOrder",
    "V2SkillListLocation",
    "VariantV2",
    "VariantV2Body",
    "VariantV2Headers",
    "VcsApplied",
    "VcsDiffMode",
    "VcsFileDiff",
    "VcsFileDiffStatus",
    "VcsFileStatus",
    "VcsFileStatusStatus",
    "VcsGetResponse200",
    "WaitQuery",
    "WaitingInput",
    "WaitingInputDelivery",
    "WaitingInputStatus",
    "WarpBody",
    "Webhook",
    "WebhookCreate",
    "WebhookPatch",
    "WebhookWithSecret",
    "Workspace",
    "WorkspaceBody",
    "WorkspaceStatus",
    "WorkspaceStatusStatus",
    "Worktree",
    "WorktreeBase",
    "WorktreeBody",
    "WorktreeResult",
    "WrappedMessageV2",
    "WrappedPermissionV2",
    "WrappedRevertV2",
    "WrappedSessionV2",
    "WrappeddictstrJsonValue",
    "WrappeddictstrJsonValueData",
    "WrappedlistMessageV2",
    "WrappedlistPermissionV2",
    "WrappedlistQuestionV2",
    "WrappedlistSavedPermission",
)
