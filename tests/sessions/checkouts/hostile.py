"""What a repository can bring along to have programs started, each writing to a canary outside."""

from __future__ import annotations

from pathlib import Path


def arm(repository: Path, canary: Path) -> None:
    """Put a program behind every door that git knows."""
    program = repository / ".git" / "evil"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >>{canary}\necho x >>{repository}/pwned\ncat\n')
    program.chmod(0o755)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        *("post-checkout", "post-merge", "pre-commit", "commit-msg", "post-commit", "pre-push"),
        *("reference-transaction", "post-index-change", "prepare-commit-msg", "post-rewrite"),
        *("pre-merge-commit", "fsmonitor-watchman", "pre-receive", "update", "post-update"),
    ):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    config = repository / ".git" / "config"
    with config.open("a") as file:
        file.write(f"""
[core]
	fsmonitor = {program}
	hooksPath = {hooks}
	sshCommand = {program}
	pager = {program}
	editor = {program}
	attributesFile = {repository}/.git/attributes
	alternateRefsCommand = {program}
	gitProxy = {program}
[filter "evil"]
	clean = {program}
	smudge = {program}
	process = {program}
	required = true
[diff "evil"]
	textconv = {program}
	command = {program}
[diff]
	external = {program}
[merge "evil"]
	driver = {program}
[gpg]
	program = {program}
[commit]
	gpgSign = true
[tag]
	gpgSign = true
[uploadpack]
	packObjectsHook = {program}
[sequence]
	editor = {program}
[credential]
	helper = !{program}
[alias]
	status = !{program}
	commit = !{program}
[url "ext::{program} "]
	insteadOf = https://
[include]
	path = {repository}/.git/more
[submodule]
	recurse = true
[protocol "ext"]
	allow = always
[extensions]
	partialClone = origin
[remote "origin"]
	url = ext::{program}
	promisor = true
	receivepack = {program}
	uploadpack = {program}
""")
    (repository / ".git" / "attributes").write_text("* filter=evil diff=evil merge=evil\n")
    info = repository / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* filter=evil diff=evil merge=evil\n")
    (repository / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
