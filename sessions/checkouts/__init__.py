"""A session's own git worktree and branch.

    <data>/checkouts/<project id>/store.git              objects, and refs of what was rescued
    <data>/checkouts/<project id>/<session id>/<name>    the files of one session

Why no worktrees linked to the project's repository: an agent that may commit there may write to the
objects, refs and logs of everybody who works in it, and could have its `.git` mounted from where a
link leads. So each session has a small repository of its own, which borrows the objects of a store
that is the server's alone: commands can read it, and nothing of theirs is ever written there by
themselves. The store copies the project's history once; making a checkout copies none.

Between the project's folder, the store and a checkout only packs travel, from one sandbox into the
next; git never has two of them writable, and reads no config that an agent could have written. What
is merged is computed in the store. A folder is removed only when all of it is in the project's
branch; else it is rescued first, as `refs/opencode/rescue/<session id>` in the store and in the
project's repository.
"""
