from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.checkouts.create import DRAFT
from sessions.checkouts.merge import finish_move, merge
from sessions.checkouts.operations import commit
from sessions.checkouts.push import push
from sessions.checkouts.removal import remove_checkouts
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.checkouts.rescue import rescue
from sessions.git.places import rescued_root
from tests.sessions.checkouts.conftest import ALICE, Shop, run

MOVING = "refs/opencode/moving"


async def test_a_half_made_folder_is_made_anew(shop: Shop) -> None:
    wanted = shop.wanted("ses_1")
    half = wanted.folder.parent / f"{DRAFT}dead"
    half.mkdir(parents=True)
    (half / "x").write_text("half")
    folder, _ = await shop.make()
    assert (folder / "till.py").exists()
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["shop"]


async def test_two_that_make_one_checkout_leave_one(shop: Shop) -> None:
    made = await asyncio.gather(*(shop.make(f"ses_{n}") for n in range(4)))
    assert len({folder for folder, _ in made}) == 4
    for folder, _ in made:
        assert run("git status --porcelain; git fsck --connectivity-only 2>&1", folder) == ""


async def test_a_merge_that_died_half_way_is_brought_to_its_end(shop: Shop) -> None:
    folder, _ = await shop.make()
    both = await shop.repositories()
    run("echo new >new; sed -i s/one/ONE/ till.py; rm d/f", folder)
    head = await commit(both.checkout, message="Mine", person=ALICE)
    old = run("git rev-parse HEAD", shop.folder).strip()
    await both.checkout.send(head, both.store, known=[old])
    await both.checkout.send(head, both.project, known=[old])
    # As it is when a worker is killed while git writes: one file is new, its lock is left.
    await both.store.ask("update-ref", MOVING, head, writes=True)
    run("echo new >new; touch .git/index.lock .git/index.moving.lock", shop.folder)
    await finish_move(both)
    assert run("git rev-parse HEAD; git status --porcelain", shop.folder).strip() == head
    assert (shop.folder / "till.py").read_text() == "ONE\ntwo\nthree\n"
    assert not (shop.folder / "d").exists()
    assert await both.store.find(MOVING) is None


async def test_a_rescue_that_died_half_way_does_not_stop_the_next(shop: Shop) -> None:
    folder, _ = await shop.make()
    both = await shop.repositories()
    run("echo new >new; touch .git/index.rescue .git/index.rescue.lock", folder)
    rescued = await rescue(both.checkout, title="Mine")
    assert run(f"git show {rescued.commit}:new", folder) == "new\n"
    assert not [*(folder / ".git").glob("index.rescue*")]


async def test_what_somebody_changed_after_a_dead_merge_is_left_alone(shop: Shop) -> None:
    folder, _ = await shop.make()
    both = await shop.repositories()
    run("sed -i s/one/ONE/ till.py", folder)
    head = await commit(both.checkout, message="Mine", person=ALICE)
    old = run("git rev-parse HEAD", shop.folder).strip()
    await both.checkout.send(head, both.store, known=[old])
    await both.checkout.send(head, both.project, known=[old])
    await both.store.ask("update-ref", MOVING, head, writes=True)
    (shop.folder / "till.py").write_text("somebody's\n")
    with pytest.raises(CheckoutError, match=r"were changed since: till\.py"):
        await merge(both, "main", person=ALICE, message="no")
    assert (shop.folder / "till.py").read_text() == "somebody's\n"
    assert run("git rev-parse HEAD", shop.folder).strip() == old
    run("git checkout -q till.py", shop.folder)
    with pytest.raises(CheckoutError, match="has every commit"):
        await merge(both, "main", person=ALICE, message="no")
    assert run("git rev-parse HEAD", shop.folder).strip() == head


@pytest.mark.parametrize("stays", [True, False])
async def test_work_outlives_its_project(shop: Shop, stays: bool) -> None:
    folder, _ = await shop.make("ses_1")
    clean, _ = await shop.make("ses_2")
    (folder / "new").write_text("new\n")
    await remove_checkouts("prj_1", str(shop.folder) if stays else "")
    assert not folder.exists()
    assert not clean.exists()
    kept = rescued_root() / "prj_1.git"
    assert kept.exists() is not stays
    where = shop.folder if stays else kept
    assert run("git show refs/opencode/rescue/ses_1:new", where) == "new\n"
    refs = run("git for-each-ref --format='%(refname)' refs/opencode/rescue", where)
    assert refs == "refs/opencode/rescue/ses_1\n"


async def test_a_branch_is_pushed_and_a_refusal_is_said(
    shop: Shop, tmp_path: Path, settings: Settings
) -> None:
    settings.GIT_ALLOW_FILE = True
    remote = tmp_path / "remote.git"
    run(f"git init -q --bare {remote}", tmp_path)
    folder, _ = await shop.make()
    both = await shop.repositories()
    (folder / "new").write_text("new\n")
    head = await commit(both.checkout, message="New", person=ALICE)
    url, branch = f"file://{remote}", "opencode/ses_1"
    await push(both, url=url, branch=branch, credential="")
    assert run(f"git rev-parse refs/heads/{branch}", remote).strip() == head
    tree = run("git write-tree", remote).strip()
    other = run(f"git commit-tree {tree} -m other", remote).strip()
    run(f"git update-ref refs/heads/{branch} {other}", remote)
    with pytest.raises(CheckoutError, match="commits on this branch that are not here"):
        await push(both, url=url, branch=branch, credential="")
    with pytest.raises(CheckoutError, match="no repository at this address"):
        await push(both, url=f"{url}x", branch=branch, credential="")
    assert (
        Repository(both.checkout.git_dir).git_dir.joinpath("config").read_text().count("url") == 0
    )
