from __future__ import annotations

from pathlib import Path

import pytest

from sessions.checkouts.merge import MergeConflict, merge
from sessions.checkouts.operations import Repositories, commit, look, remove_folder, secure
from sessions.checkouts.repository import CheckoutError, NoCheckouts, Person
from sessions.checkouts.rescue import Rescued
from tests.sessions.checkouts.conftest import ALICE, Shop, run

pytestmark = pytest.mark.any_database


async def test_a_checkout_has_the_files_and_a_branch_of_its_own(shop: Shop) -> None:
    folder, made = await shop.make()
    assert made.base_branch == "main"
    assert made.base == run("git rev-parse HEAD", shop.folder).strip()
    assert (folder / "till.py").read_text() == "one\ntwo\nthree\n"
    assert run("git branch --show-current", folder) == "opencode/ses_1\n"
    assert run("git status --porcelain; git log --format=%s", folder) == "First\n"
    assert run("git config user.email", folder) == "alice@example.com\n"
    assert run("git branch --format='%(refname:short)'", shop.folder) == "main\n"


async def test_it_starts_from_a_named_branch(shop: Shop) -> None:
    run("git checkout -qb other; echo x >only; git add -A; git commit -qm Other", shop.folder)
    run("git checkout -q main", shop.folder)
    folder, made = await shop.make(base="other")
    assert (folder / "only").exists()
    assert made.base_branch == "other"
    with pytest.raises(CheckoutError, match="no branch gone"):
        await shop.make("ses_2", base="gone")


async def test_a_project_that_cannot_have_any_says_why(shop: Shop, tmp_path: Path) -> None:
    for script, why in (
        ("rm -rf .git", "its .git is missing"),
        ("git init -q", "no commit yet"),
        ("rm -rf .git; echo gitdir: /x >.git", "its .git is no folder"),
    ):
        run(script, shop.folder)
        with pytest.raises(NoCheckouts, match=why):
            await shop.make()
    run("git clone -q --depth 1 file://$PWD/full shallow", made_twice(tmp_path))
    shop.folder = tmp_path / "shallow"
    with pytest.raises(NoCheckouts, match="unshallow"):
        await shop.make()


def made_twice(tmp_path: Path) -> Path:
    (tmp_path / "full").mkdir()
    two = "git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2"
    run(f"git init -q; {two}", tmp_path / "full")
    return tmp_path


async def test_it_commits_in_the_name_of_a_person_and_merges_forward(shop: Shop) -> None:
    folder, _ = await shop.make()
    run("echo new >new; rm d/f; echo no >skip", folder)
    both = await shop.repositories()
    looked = await look(both, "main")
    assert (looked.ahead, looked.behind, looked.dirty) == (0, 0, 2)
    head = await commit(both.checkout, message="Add new\n\nBecause.", person=ALICE)
    looked = await look(both, "main")
    assert (looked.head, looked.ahead, looked.dirty) == (head, 1, 0)
    assert not (shop.folder / "new").exists()
    merged = await merge(both, "main", person=ALICE, message="unused")
    assert merged.forwarded
    assert run("git log -1 --format='%H %an <%ae> %s'", shop.folder).strip() == (
        f"{head} Alice <alice@example.com> Add new"
    )
    assert run("git status --porcelain", shop.folder) == ""
    assert (shop.folder / "new").read_text() == "new\n"
    assert not (shop.folder / "d").exists()
    with pytest.raises(CheckoutError, match="has every commit"):
        await merge(both, "main", person=ALICE, message="unused")
    with pytest.raises(CheckoutError, match="nothing to commit"):
        await commit(both.checkout, message="Again", person=ALICE)


async def test_both_sides_are_merged_by_a_commit(shop: Shop) -> None:
    folder, _ = await shop.make()
    run("sed -i s/one/ONE/ till.py", folder)
    run("sed -i s/three/THREE/ till.py; git commit -qam Three", shop.folder)
    both = await shop.repositories()
    await commit(both.checkout, message="One", person=ALICE)
    looked = await look(both, "main")
    assert (looked.ahead, looked.behind) == (1, 1)
    merged = await merge(both, "main", person=ALICE, message="Merge one")
    assert not merged.forwarded
    assert (shop.folder / "till.py").read_text() == "ONE\ntwo\nTHREE\n"
    assert run("git log --format='%s by %an' -1", shop.folder) == "Merge one by Alice\n"
    assert run("git rev-list --parents -1 HEAD", shop.folder).count(" ") == 2


async def test_a_conflict_is_listed_and_changes_nothing(shop: Shop) -> None:
    folder, _ = await shop.make()
    run("sed -i s/one/mine/ till.py; echo b >both", folder)
    run("sed -i s/one/theirs/ till.py; echo a >both; git add -A; git commit -qm T", shop.folder)
    both = await shop.repositories()
    await commit(both.checkout, message="Mine", person=ALICE)
    before = run("git rev-parse HEAD; git status --porcelain; cat till.py", shop.folder)
    with pytest.raises(MergeConflict) as caught:
        await merge(both, "main", person=ALICE, message="no")
    assert caught.value.files == ["both", "till.py"]
    assert run("git rev-parse HEAD; git status --porcelain; cat till.py", shop.folder) == before


async def test_it_does_not_touch_a_project_with_changes_of_its_own(shop: Shop) -> None:
    folder, _ = await shop.make()
    both = await shop.repositories()
    run("echo new >new; sed -i s/one/mine/ till.py", folder)
    await commit(both.checkout, message="Mine", person=ALICE)
    run("echo mine >new", shop.folder)
    with pytest.raises(CheckoutError, match="could not be brought up to date"):
        await merge(both, "main", person=ALICE, message="no")
    assert (shop.folder / "new").read_text() == "mine\n"
    run("rm new; echo x >>till.py", shop.folder)
    with pytest.raises(CheckoutError, match=r"not committed: till\.py"):
        await merge(both, "main", person=ALICE, message="no")
    run("git checkout -q till.py; git checkout -qb elsewhere", shop.folder)
    await merge(both, "main", person=ALICE, message="no")
    assert run("git log -1 --format=%s main; git status --porcelain", shop.folder) == "Mine\n"
    assert not (shop.folder / "new").exists()


async def drop(both: Repositories, folder: Path, title: str = "T") -> Rescued | None:
    rescued = await secure(both, session_id="ses_1", base_branch="main", title=title)
    remove_folder(folder)
    return rescued


async def test_what_is_merged_is_dropped_and_leaves_nothing(shop: Shop) -> None:
    folder, _ = await shop.make()
    run("echo new >new", folder)
    both = await shop.repositories()
    await commit(both.checkout, message="Mine", person=ALICE)
    await merge(both, "main", person=ALICE, message="no")
    gone = await drop(both, folder)
    assert gone is None
    assert not folder.exists()
    assert run("git for-each-ref --format='%(refname)'", shop.folder) == "refs/heads/main\n"


async def test_what_is_not_merged_is_rescued_and_comes_back(shop: Shop) -> None:
    folder, _ = await shop.make()
    both = await shop.repositories()
    run("echo c >committed", folder)
    head = await commit(both.checkout, message="Committed", person=ALICE)
    run("git checkout -q main; git checkout -qb side; echo s >side", folder)
    run("git add -A; git commit -qm Side; git checkout -q opencode/ses_1", folder)
    run("echo u >'un tracked'; echo x >>till.py; git add till.py; rm d/f; ln -s a link", folder)
    run("chmod +x till.py; mkdir -p ro/deep; echo r >ro/deep/f; chmod 500 ro/deep", folder)
    side = run("git rev-parse side", folder).strip()
    before = run("git status --porcelain --untracked-files=all", folder)
    rescued = await drop(both, folder, "My work")
    assert rescued is not None
    assert not folder.exists()
    ref = "refs/opencode/rescue/ses_1"
    assert run(f"git rev-parse {ref}", shop.folder).strip() == rescued.commit
    assert run(f"git log -1 --format='%s|%P' {ref}", shop.folder) == (
        f"Rescued work: My work|{head} {side}\n"
    )
    assert run(f"git show {ref}:'un tracked'", shop.folder) == "u\n"
    folder, _ = await shop.make(rescued=rescued)
    assert run("git rev-parse HEAD", folder).strip() == head
    after = run("git status --porcelain --untracked-files=all", folder)
    assert names(after) == names(before)
    assert (folder / "link").is_symlink()
    assert (folder / "till.py").stat().st_mode & 0o100


def names(status: str) -> list[str]:
    return sorted(line[3:] for line in status.splitlines())


async def test_nothing_goes_that_cannot_be_kept(shop: Shop) -> None:
    folder, _ = await shop.make()
    run("mkdir lib; cd lib; git init -q; echo x >f; git add -A; git commit -qm x", folder)
    both = await shop.repositories()
    with pytest.raises(CheckoutError, match=r"repositories inside of the worktree \(lib\)"):
        await drop(both, folder)
    assert (folder / "lib" / "f").exists()
    with pytest.raises(CheckoutError, match="lib"):
        await commit(both.checkout, message="No", person=ALICE)
    run("rm -rf lib/.git lib/f; git init -q lib", folder)
    with pytest.raises(CheckoutError, match="Not every file can be kept"):
        await drop(both, folder)


async def test_two_sessions_change_the_same_file_without_seeing_each_other(shop: Shop) -> None:
    one, _ = await shop.make("ses_1")
    two, _ = await shop.make("ses_2")
    run("sed -i s/one/1/ till.py", one)
    run("sed -i s/three/3/ till.py", two)
    assert (one / "till.py").read_text() == "1\ntwo\nthree\n"
    assert (two / "till.py").read_text() == "one\ntwo\n3\n"
    assert (shop.folder / "till.py").read_text() == "one\ntwo\nthree\n"
    for session in ("ses_1", "ses_2"):
        both = await shop.repositories(session)
        await commit(both.checkout, message=session, person=ALICE)
        await merge(both, "main", person=ALICE, message=f"Merge {session}")
    assert (shop.folder / "till.py").read_text() == "1\ntwo\n3\n"


async def test_rescued_work_comes_back_when_its_branch_is_gone(shop: Shop) -> None:
    run("git checkout -qb other; git commit -q --allow-empty -m Other", shop.folder)
    folder, _ = await shop.make()
    (folder / "new").write_text("new")
    rescued = await secure(
        await shop.repositories(), session_id="ses_1", base_branch="other", title="T"
    )
    remove_folder(folder)
    run("git checkout -q main; git branch -qD other", shop.folder)
    folder, made = await shop.make(base="other", rescued=rescued)
    assert made.base_branch == "other"
    assert (folder / "new").read_text() == "new"


async def test_a_persons_name_is_only_a_name(shop: Shop) -> None:
    name = 'A "B" \\ #;\n[alias] x = !y'
    folder, _ = await shop.make(person=Person(name, "a@example.com"))
    assert run("git config user.name", folder) == 'A "B" \\ #; [alias] x = !y\n'
    assert "alias" not in run("git config --list --local --name-only", folder)
