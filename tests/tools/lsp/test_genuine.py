from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.tools.lsp.conftest import Project
from tools.lsp.servers import SERVERS

SHOP = '''"""A shop."""

from __future__ import annotations


class Till:
    """Holds money."""

    def add(self, amount: int) -> int:
        """Put money in."""
        return amount


def sell(till: Till) -> int:
    return till.add(3)
'''


@pytest.fixture(scope="session")
def pyright(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `npm install pyright` would put it into a project."""
    found = importlib.util.find_spec("pyright")
    assert found is not None
    assert found.origin
    folder = tmp_path_factory.mktemp("pyright") / "node_modules"
    shutil.copytree(Path(found.origin).parent / "dist", folder / "pyright")
    (folder / ".bin").mkdir()
    start = folder / ".bin/pyright-langserver"
    start.symlink_to("../pyright/langserver.index.js")
    (folder / "pyright/langserver.index.js").chmod(0o755)
    return folder


@pytest_asyncio.fixture
async def shop(project: Project, pyright: Path) -> AsyncIterator[Project]:
    # Hard links: it has thousands of small files.
    shutil.copytree(pyright, project.folder / "node_modules", symlinks=True, copy_function=_link)
    (project.folder / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
    (project.folder / "shop.py").write_text(SHOP)
    project.switch_on(SERVERS["pyright"])
    yield project


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)


async def _ask(shop: Project, operation: str, line: int, character: int, **more: Any) -> Any:
    place = {"filePath": "shop.py", "line": line, "character": character}
    result = await shop.context.call("lsp", operation=operation, **place, **more)
    return json.loads(result.output)


def _lines(places: list[dict[str, Any]], key: str = "range") -> list[int]:
    return [place[key]["start"]["line"] + 1 for place in places]


async def test_pyright_knows_a_project(shop: Project) -> None:
    uri = (shop.folder / "shop.py").as_uri()
    [definition] = await _ask(shop, "goToDefinition", 15, 17)
    assert (definition["uri"], _lines([definition])) == (uri, [9])
    assert _lines(await _ask(shop, "findReferences", 9, 9)) == [9, 15]
    [hover] = await _ask(shop, "hover", 15, 17)
    assert "(method) def add(" in hover["contents"]["value"]
    assert "Put money in." in hover["contents"]["value"]
    symbols = await _ask(shop, "documentSymbol", 1, 1)
    assert [symbol["name"] for symbol in symbols] == ["Till", "sell"]
    found = await _ask(shop, "workspaceSymbol", 1, 1, query="Till")
    assert "Till" in [symbol["name"] for symbol in found]
    [function] = await _ask(shop, "prepareCallHierarchy", 9, 9)
    assert function["name"] == "add"
    [caller] = await _ask(shop, "incomingCalls", 9, 9)
    assert caller["from"]["name"] == "sell"
    [called] = await _ask(shop, "outgoingCalls", 14, 5)
    assert called["to"]["name"] == "add"
    assert [state.status for state in shop.states] == ["connected"]


async def test_pyright_finds_the_errors_of_an_edit(shop: Project) -> None:
    await shop.context.know("shop.py")
    edit = {"filePath": "shop.py", "oldString": "till.add(3)", "newString": 'till.add("\N{BELL}3")'}
    result = await shop.context.call("edit", **edit)
    path = shop.folder / "shop.py"
    head, told = result.output.split(f'<diagnostics file="{path}">\n')
    assert head == ("Edit applied successfully.\n\nLSP errors detected in this file, please fix:\n")
    assert told.startswith("ERROR [15:21] ")
    assert '"Literal[' in told
    [found] = [one for one in result.metadata["diagnostics"][str(path)] if one["severity"] == 1]
    assert (found["source"], found["code"]) == ("Pyright", "reportArgumentType")
    mended = {"filePath": "shop.py", "oldString": '"\N{BELL}3"', "newString": "3"}
    result = await shop.context.call("edit", **mended)
    assert result.output == "Edit applied successfully."
