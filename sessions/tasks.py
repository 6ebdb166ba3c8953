"""The Celery tasks of this app: nothing but calls. A message may come twice or never."""

from __future__ import annotations

from celery import shared_task

from opencode_web.lib.json import JsonObject
from opencode_web.lib.loop import submit
from opencode_web.lib.removals import removing
from sessions.actions.change_requests import expire_requests
from sessions.actions.deliveries import prune_deliveries
from sessions.actions.drafts import prune_drafts
from sessions.actions.previews import forget_idle_previews
from sessions.actions.project_files import forgotten_projects
from sessions.actions.retention import apply_retention
from sessions.actions.schedule_runs import run_due, settle_runs
from sessions.browse.ask import start_serving
from sessions.checkouts import jobs
from sessions.checkouts.removal import remove_checkouts
from sessions.checkouts.rows import forgotten_jobs
from sessions.git.project_folders import remove_managed
from sessions.integrations.answers import send_answers
from sessions.integrations.handle import handle_due, prune_inbound
from sessions.integrations.replies import prune_replies, send_replies
from sessions.integrations.slack import service as slack_service
from sessions.jobs import audit_stream, clones, disk_use, mcp_grants, packages, sweep, webhooks
from sessions.jobs.erasure import erase_files, run_erasure
from sessions.jobs.samples import take_sample
from sessions.jobs.snapshot_pruning import prune_snapshots
from sessions.notifications.send import prune_notifications, send_notifications
from sessions.queue_position import free_places
from sessions.runner import run_session
from sessions.runner.drain.title_request import write_title
from sessions.runner.log.lease import runnable_sessions
from sessions.terminals.host import start_terminal
from sessions.terminals.life import settle_terminals
from sessions.wake import wake_again, wake_checkout, wake_clone, wake_prune, wake_sweep
from teams.actions.erasure import waiting_erasures


@shared_task(name="sessions.run")
def run(session_id: str) -> None:
    """Drain a session on the process's own loop, and hold this pool thread meanwhile."""
    submit(run_session(session_id)).result()


@shared_task(name="sessions.title")
def title(session_id: str) -> None:
    """Have a small model name a session after its first turn."""
    submit(write_title(session_id)).result()


@shared_task(name="sessions.wake_runnable")
def wake_runnable() -> None:
    """Ring again for sessions with something to do and no live owner: as many as find a place."""
    places = None
    for session_id, project in runnable_sessions():
        places = free_places() if places is None else places
        if places[project.host] > 0:
            places[project.host] -= 1
            wake_again(session_id, project)


@shared_task(name="sessions.sample_server")
def sample_server() -> None:
    """Keep what the server did in the last minute, for the operators' charts."""
    take_sample()


@shared_task(name="sessions.prepare_project")
def prepare_project(project_id: str, sealed_credential: str = "") -> None:
    """Start the clone of a project's repository on the process's own loop."""
    clones.start_clone(project_id, sealed_credential=sealed_credential)


@shared_task(name="sessions.checkout")
def checkout(checkout_id: str, sealed_credential: str = "") -> None:
    """Begin what was asked of a session's worktree on the process's own loop."""
    jobs.start_job(checkout_id, sealed_credential=sealed_credential)


@shared_task(name="sessions.wake_checkouts")
def wake_checkouts() -> None:
    """Ring again for every worktree whose job was lost with its worker."""
    for row in forgotten_jobs():
        wake_checkout(row.pk, row.project)


@shared_task(name="sessions.terminal")
def terminal(terminal_id: str, sealed_environment: str = "") -> None:
    """Start a terminal on the process's own loop."""
    start_terminal(terminal_id, sealed_environment=sealed_environment)


@shared_task(name="sessions.revoke_mcp_grants")
def revoke_mcp_grants() -> None:
    """Give back what MCP servers have granted and nobody uses any more."""
    mcp_grants.revoke_grants()


@shared_task(name="sessions.settle_terminals")
def settle() -> None:
    """End the terminals whose worker is gone."""
    settle_terminals()
    forget_idle_previews()


@shared_task(name="sessions.remove_project_files")
def remove_project_files(project_id: str, directory: str = "") -> None:
    """Remove the worktrees that the server made for a project that is gone."""
    # While a backup is made nothing is; the sweep removes what is left.
    with removing() as may_remove:
        if may_remove:
            submit(remove_checkouts(project_id, directory)).result()
            remove_managed(project_id)


@shared_task(name="sessions.wake_preparing")
def wake_preparing() -> None:
    """Ring again for every project whose preparation was lost with its worker."""
    for project in forgotten_projects():
        wake_clone(project)


@shared_task(name="sessions.pin_package")
def pin_package(plugin: int) -> None:
    """Find out what a package of a team consists of, and fetch it."""
    submit(packages.pin_package(plugin)).result()


@shared_task(name="sessions.sweep_files")
def sweep_files() -> None:
    """Remove the files on this host whose session or project is gone, and measure the others."""
    with removing() as may_remove:
        if may_remove:
            sweep.sweep_files()
    disk_use.measure_projects()


@shared_task(name="sessions.measure_project")
def measure_project(project_id: str) -> None:
    """Measure a project whose files may have grown, so that the limit of its team counts."""
    disk_use.measure_grown(project_id)


@shared_task(name="sessions.sweep_hosts")
def sweep_hosts() -> None:
    """Have every host sweep its own files."""
    for host in sweep.hosts_with_files():
        wake_sweep(host)


@shared_task(name="sessions.expire_changes")
def expire_changes() -> None:
    """End requests for an approval that nobody has decided in time."""
    expire_requests()


@shared_task(name="sessions.apply_retention")
def expire() -> None:
    """Remove sessions and audit entries that are older than their teams keep."""
    apply_retention()


@shared_task(name="sessions.run_erasure")
def erase(erasure_id: str) -> None:
    """Erase a person, a project or a team for good."""
    run_erasure(erasure_id)


@shared_task(name="sessions.erase_files")
def erase_files_here(project_id: str, session_ids: list[str]) -> None:
    """Remove the files on this host of what was deleted."""
    erase_files(project_id, session_ids)


@shared_task(name="sessions.wake_erasures")
def wake_erasures() -> None:
    """Go on with erasures whose message or worker was lost."""
    for erasure_id in waiting_erasures():
        run_erasure(erasure_id)


@shared_task(name="sessions.prune_snapshots")
def prune() -> None:
    """Have git pack the snapshots on this host, and forget those that nobody can go back to."""
    with removing() as may_remove:
        if may_remove:
            submit(prune_snapshots()).result()


@shared_task(name="sessions.prune_hosts")
def prune_hosts() -> None:
    """Have every host prune its own snapshots."""
    for host in sweep.hosts_with_files():
        wake_prune(host)


@shared_task(name="sessions.browse")
def browse(request_id: str, operation: str, where: JsonObject, arguments: JsonObject) -> None:
    """Look at files of this host for another process, on the process's own loop."""
    start_serving(request_id, operation, where, arguments)


@shared_task(name="sessions.hear_forges")
def hear_forges() -> None:
    """Do what comments on forges ask for."""
    submit(handle_due()).result()


@shared_task(name="sessions.answer_forges")
def answer_forges() -> None:
    """Write what answers on forges."""
    submit(send_replies()).result()
    submit(send_answers()).result()


@shared_task(name="sessions.serve_slack")
def serve_slack() -> None:
    """Speak with Slack on the process's own loop, for workspaces that no process serves."""
    slack_service.start_serving()


@shared_task(name="sessions.deliver_webhooks")
def deliver_webhooks() -> None:
    """Send the deliveries of webhooks that are due."""
    submit(webhooks.send_due()).result()


@shared_task(name="sessions.send_notifications")
def notify() -> None:
    """Send what people want to be told of."""
    submit(send_notifications()).result()


@shared_task(name="sessions.stream_audit")
def stream_audit() -> None:
    """Send new entries of the audit log to those who follow it."""
    submit(audit_stream.send_audit()).result()


@shared_task(name="sessions.run_schedules")
def run_schedules() -> None:
    """Begin what is due, and note how earlier runs have ended."""
    settle_runs()
    run_due()


@shared_task(name="sessions.prune_webhook_deliveries")
def prune_webhook_deliveries() -> None:
    """Forget old deliveries, old comments of forges and notifications that were given up."""
    prune_deliveries()
    prune_notifications()
    prune_inbound()
    prune_replies()


@shared_task(name="sessions.prune_drafts")
def prune_kept_drafts() -> None:
    """Forget what nobody has gone on with."""
    prune_drafts()
