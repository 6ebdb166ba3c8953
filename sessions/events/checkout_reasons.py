"""What a worker says of a worktree, and of what was asked of it. See `reasons`."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Reason


class CheckoutReason(Reason):
    """Why it could not be done, what came of it, or how far it is."""

    NO_COMMIT = "checkout_no_commit", gettext_noop("The session's branch has no commit.")
    NOT_KEPT = "checkout_not_kept", gettext_noop("Not every file can be kept: {why}")
    REPOSITORIES_INSIDE = (
        "checkout_repositories_inside",
        gettext_noop(
            "There are git repositories inside of the worktree ({paths}), which are no part of "
            "its branch. Move or remove them first."
        ),
    )
    LOST = (
        "checkout_lost",
        gettext_noop("It was begun five times, and each time its worker was lost."),
    )
    FOLDER_GONE = "checkout_folder_gone", gettext_noop("The worktree's folder is gone.")
    PUSH_CUT = (
        "checkout_push_cut",
        gettext_noop("The push was cut short. Ask for it again, with the access token."),
    )
    TOO_MUCH_SAID = (
        "checkout_too_much_said",
        gettext_noop("git {command} said more than can be read"),
    )
    GIT_NO_FOLDER = (
        "checkout_git_no_folder",
        gettext_noop("The project is no plain git repository: its .git is no folder."),
    )
    GIT_MISSING = (
        "checkout_git_missing",
        gettext_noop("The project is no plain git repository: its .git is missing."),
    )
    UNKNOWN_FORMAT = (
        "checkout_unknown_format",
        gettext_noop("The project's repository has an unknown format ({format})."),
    )
    SHALLOW = (
        "checkout_shallow",
        gettext_noop(
            "The project is a shallow clone, without its history. Run git fetch --unshallow in it."
        ),
    )
    NOTHING_TO_PUSH = (
        "checkout_nothing_to_push",
        gettext_noop("It is on no branch that could be pushed. Make a new branch first."),
    )
    OTHER_KEY = (
        "checkout_other_key",
        gettext_noop("The worker has another SECRET_KEY than the web server."),
    )
    NO_COMMIT_YET = (
        "checkout_no_commit_yet",
        gettext_noop("There is no commit yet, so there is no branch to go on from."),
    )
    NOTHING_TO_RENAME = (
        "checkout_nothing_to_rename",
        gettext_noop("It is on no branch that could be renamed. Make a new one."),
    )
    BRANCH_THERE = (
        "checkout_branch_there",
        gettext_noop("There is a branch {branch} already. Take another name."),
    )
    BRANCH_TAKEN = (
        "checkout_branch_taken",
        gettext_noop("Another session has the branch {branch}. Take another name."),
    )
    NO_BASE = (
        "checkout_no_base",
        gettext_noop("The project was on no branch when this one was made. Push it instead."),
    )
    HAS_ALL = "checkout_has_all", gettext_noop("{branch} has every commit of this branch already.")
    PROJECT_DIRTY = (
        "checkout_project_dirty",
        gettext_noop(
            "The project's folder has changes that are not committed: {paths}. Commit or "
            "discard them there, then merge again."
        ),
    )
    NOT_UP_TO_DATE = (
        "checkout_not_up_to_date",
        gettext_noop("The project's folder could not be brought up to date: {why}"),
    )
    MERGE_CUT = (
        "checkout_merge_cut",
        gettext_noop(
            "A merge into the project's folder was cut short, and these files were changed "
            "since: {paths}. Put them in order there, then try again."
        ),
    )
    BASE_GONE = "checkout_base_gone", gettext_noop("The project has no branch {branch} any more.")
    NO_FIRST_COMMIT = (
        "checkout_no_first_commit",
        gettext_noop(
            "The project has no commit yet. Have the agent make the first one, or make it in a "
            "terminal."
        ),
    )
    CONFLICTS = (
        "checkout_conflicts",
        gettext_noop("These files have conflicts that nobody has solved: {paths}."),
    )
    NOTHING_STAGED = (
        "checkout_nothing_staged",
        gettext_noop("Nothing is staged any more. Look at the changes again."),
    )
    NOTHING_TO_COMMIT = "checkout_nothing_to_commit", gettext_noop("There is nothing to commit.")
    MERGE_UNDER_WAY = (
        "checkout_merge_under_way",
        gettext_noop("A merge is under way there: commit every file, or none."),
    )
    UNCHANGED = (
        "checkout_unchanged",
        gettext_noop("These files have no changes any more: {paths}. Choose again."),
    )
    NO_FILE = "checkout_no_file", gettext_noop("Choose at least one file.")
    OWN_REPOSITORIES = (
        "checkout_own_repositories",
        gettext_noop("These are git repositories of their own: {paths}."),
    )
    RESCUED_GONE = (
        "checkout_rescued_gone",
        gettext_noop("The rescued commit is no longer in the project's repository."),
    )
    PROJECT_HAS_BRANCH = (
        "checkout_project_has_branch",
        gettext_noop("The project has a branch {branch} already. Choose another name."),
    )
    PUSH_STOPPED = (
        "checkout_push_stopped",
        gettext_noop("The push was stopped after {minutes} minutes."),
    )
    TOKEN_NOT_SENT = (
        "checkout_token_not_sent",
        gettext_noop("The project's token is not sent there: {why}."),
    )
    PUSH_BEHIND = (
        "checkout_push_behind",
        gettext_noop(
            "The other side has commits on this branch that are not here. Have the session "
            "bring them in, then push again."
        ),
    )
    PUSH_REJECTED = "checkout_push_rejected", gettext_noop("The other side does not take it: {why}")
    PUSH_SIGN_IN = (
        "checkout_push_sign_in",
        gettext_noop(
            "The other side asks for a sign-in. An admin sets an access token under Publishing "
            "on the project's page; or give an address with one, which is used once and not "
            "kept."
        ),
    )
    DISK = "checkout_disk", gettext_noop("The server could not keep the files: {why}.")
    NO_BRANCH = "checkout_no_branch", gettext_noop("The project has no branch {branch}.")
    NOTHING_TO_START = (
        "checkout_nothing_to_start",
        gettext_noop("The project has no commit yet, so there is nothing to start from."),
    )
    FETCH_STOPPED = (
        "checkout_fetch_stopped",
        gettext_noop("The fetch was stopped after {minutes} minutes."),
    )
    NO_SUCH_COMMIT = (
        "checkout_no_such_commit",
        gettext_noop("The repository has no commit {commit} there any more."),
    )
    FETCHING = "checkout_fetching", gettext_noop("Fetching the pull request")
    READING = "checkout_reading", gettext_noop("Reading the project's history")
    WRITING = "checkout_writing", gettext_noop("Writing files")
    TURN_BEGAN = "checkout_turn_began", gettext_noop("A turn has begun in the meantime.")
    MOVED_ON = (
        "checkout_moved_on",
        gettext_noop("The branch has other commits than the one that was approved."),
    )
    SERVER_FAULT = "checkout_server_fault", gettext_noop("The server could not do it: {why}.")
    CRASHED = (
        "checkout_crashed",
        gettext_noop("The server failed while it did this; the fault was logged."),
    )
    COMMITTED = "checkout_committed", gettext_noop("Committed {commit}.")
    SWITCHED = "checkout_switched", gettext_noop("It is on the branch {branch} now.")
    MERGED = "checkout_merged", gettext_noop("Merged into {branch}.")
    FORWARDED = "checkout_forwarded", gettext_noop("Merged into {branch} (fast-forward).")
    MERGE_COMMITTED = (
        "checkout_merge_committed",
        gettext_noop("Merged into {branch} (with a merge commit)."),
    )
    MERGED_LEFT = (
        "checkout_merged_left",
        gettext_noop("{said} {count} files that are not committed stay in the worktree."),
    )
    PUSHED = "checkout_pushed", gettext_noop("Pushed as {branch}.")
    ASKING_FORGE = "checkout_asking_forge", gettext_noop("Asking the forge")
    RESCUED = (
        "checkout_rescued",
        gettext_noop("The unmerged work is kept as {ref} of the project's repository."),
    )
    DROPPED = "checkout_dropped", gettext_noop("Dropped: everything was merged.")
    RESTORED = "checkout_restored", gettext_noop("The worktree is back.")
    ON_BRANCH = (
        "checkout_on_branch",
        gettext_noop("Its work is on the branch {branch} of the project."),
    )
    DISCARDED = "checkout_discarded", gettext_noop("Its rescued work was deleted.")
    PULL_THERE = (
        "checkout_pull_there",
        gettext_noop("The branch has an open pull request already: #{number}."),
    )
    PULL_OPENED = "checkout_pull_opened", gettext_noop("Opened the pull request #{number}.")
    PUSH_COUNTING = "checkout_push_counting", gettext_noop("Counting objects: {percent} %")
    PUSH_COMPRESSING = "checkout_push_compressing", gettext_noop("Packing objects: {percent} %")
    PUSH_WRITING = "checkout_push_writing", gettext_noop("Sending objects: {percent} %")
    CHOSEN = "checkout_chosen", gettext_noop("You chose so.")
