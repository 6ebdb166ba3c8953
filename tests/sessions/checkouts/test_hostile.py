from __future__ import annotations

from pathlib import Path

import pytest

from sessions.checkouts.merge import merge
from sessions.checkouts.operations import commit, look, remove_folder, secure
from sessions.checkouts.repository import CheckoutError, NoCheckouts
from tests.sessions.checkouts.conftest import ALICE, Shop, run
from tests.sessions.checkouts.hostile import arm

pytestmark = pytest.mark.any_database


@pytest.mark.parametrize("whose", ["project", "checkout"])
async def test_no_program_of_a_repository_is_started_at_any_step(
    shop: Shop, tmp_path: Path, whose: str
) -> None:
    canary = tmp_path / "canary"
    if whose == "project":
        arm(shop.folder, canary)
    folder, _ = await shop.make()
    if whose == "checkout":
        arm(folder, canary)
    both = await shop.repositories()
    (folder / "new").write_text("new\n")
    (folder / "till.py").write_text("ONE\ntwo\nthree\n")
    await look(both, "main")
    await commit(both.checkout, message="New", person=ALICE)
    await merge(both, "main", person=ALICE, message="Merge")
    (folder / "left").write_text("left\n")
    assert await secure(both, session_id="ses_1", base_branch="main", title="T") is not None
    remove_folder(folder)
    assert not canary.exists()
    assert not (shop.folder / "pwned").exists()
    assert (shop.folder / "till.py").read_text() == "ONE\ntwo\nthree\n"


async def test_links_in_place_of_parts_of_git_lead_nowhere(shop: Shop, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run("git init -q; echo secret >s; git add -A; git commit -qm s", other)
    secret = run("git rev-parse HEAD", other).strip()
    # Objects of another project, by a link and by alternates.
    run(f"echo {other}/.git/objects >.git/objects/info/alternates", shop.folder)
    run(f"mkdir -p .git/refs/heads; echo {secret} >.git/refs/heads/stolen", shop.folder)
    with pytest.raises(CheckoutError, match="no branch stolen"):
        await shop.make(base="stolen")
    run(f"mv .git aside; ln -s {other}/.git .git", shop.folder)
    with pytest.raises(NoCheckouts, match="is no folder"):
        await shop.make()
    run(
        f"rm .git; mv aside .git; rm -rf .git/objects; ln -s {other}/.git/objects .git/objects",
        shop.folder,
    )
    with pytest.raises(CheckoutError):
        await shop.make()
    assert not list((tmp_path / "data" / "checkouts" / "prj_1").glob("ses_*/*"))


async def test_a_commondir_or_worktree_setting_leads_nowhere(shop: Shop, tmp_path: Path) -> None:
    canary = tmp_path / "outside"
    canary.mkdir()
    (canary / "kept").write_text("kept")
    folder, _ = await shop.make()
    run(f"git config core.worktree {canary}", folder)
    (folder / ".git" / "commondir").write_text(f"{canary}\n")
    (folder / "new").write_text("new")
    both = await shop.repositories()
    with pytest.raises(CheckoutError):
        await commit(both.checkout, message="New", person=ALICE)
    (folder / ".git" / "commondir").unlink()
    await commit(both.checkout, message="New", person=ALICE)
    assert (await look(both, "main")).ahead == 1
    assert sorted(path.name for path in canary.iterdir()) == ["kept"]


async def test_a_hostile_name_of_a_branch_or_file_is_only_a_name(shop: Shop) -> None:
    for name in ("--upload-pack=x", "-x", "HEAD; rm", "a..b"):
        with pytest.raises(CheckoutError):
            await shop.make(base=name)
    folder, _ = await shop.make()
    for name in ("--force", "-rf", "a\nb", "ünï", ":(glob)**", " "):
        (folder / name).write_text(name)
    both = await shop.repositories()
    await commit(both.checkout, message="--amend", person=ALICE)
    await merge(both, "main", person=ALICE, message="no")
    assert (shop.folder / "a\nb").read_text() == "a\nb"
    assert (shop.folder / ":(glob)**").exists()
