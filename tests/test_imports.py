"""Who may import whom. The rules are DESIGN's "Imports"; breaking one fails here with the file and the name."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("config", "debates", "accounts", "embedded")
LIBRARIES = {"jinja2", "pydantic", "pydantic_core", "rapidfuzz", "regex", "httpx2", "openai", "anthropic"}
ENGINE_MAY = LIBRARIES | sys.stdlib_module_names


def modules(*folders: str) -> Iterator[tuple[str, Path]]:
    """Each module under the folders by its dotted name."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path


def imports(name: str, path: Path) -> Iterator[tuple[str, bool]]:
    """Every module that a file imports, by its absolute name, and whether that happens inside a function."""
    tree = ast.parse(path.read_text())
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module, id(node) in inside
            yield from ((f"{module}.{alias.name}", id(node) in inside) for alias in node.names)


def within(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def broken(rule, *folders: str) -> list[str]:
    """The imports that a rule `(importer, imported) -> allowed` forbids."""
    return [
        f"{name} imports {imported}"
        for name, path in modules(*folders)
        for imported, _ in imports(name, path)
        if not rule(name, imported)
    ]


def test_accounts_import_nothing_of_ours():
    assert not broken(lambda name, imported: not within(imported, "debates", "config", "embedded"), "accounts")


def test_the_engine_imports_only_what_it_is_allowed():
    def allowed(name: str, imported: str) -> bool:
        return within(imported, "debates.engine") or imported.partition(".")[0] in ENGINE_MAY

    assert not broken(allowed, "debates/engine")


def test_formats_import_only_the_engines_words_and_what_is_asked_and_added_up():
    may = ("debates.engine.types", "debates.engine.answers", "debates.engine.ballots", "debates.engine.formats")

    def allowed(name: str, imported: str) -> bool:
        return not within(imported, "debates") or within(imported, *may) or imported == "debates.engine"

    assert not broken(allowed, "debates/engine/formats")


def test_web_modules_never_import_providers_or_tasks():
    web = ("debates.views", "debates.forms", "debates.consumers", "debates.admin", "debates.urls", "debates.live")
    forbidden = ("debates.engine.providers", "debates.engine.run", "debates.tasks", "debates.worker", "debates.voices")
    assert not broken(lambda name, imported: name not in web or not within(imported, *forbidden), "debates")


def test_consumers_and_tasks_never_meet():
    pair = {"debates.consumers", "debates.tasks"}
    assert not broken(lambda name, imported: not (name in pair and imported in pair - {name}), "debates")


def test_only_the_recorder_writes_turns():
    """Turns are made by `Turn.of` and stored by the recorder; nothing else stores one."""
    writers = [
        name
        for name, path in modules("debates")
        if "migrations" not in name and ("Turn.of(" in path.read_text() or "Turn.objects.create" in path.read_text())
    ]
    assert writers == ["debates.recorder"]


def test_no_import_hides_inside_a_function():
    """But for Django's own entry script, whose import must wait for the settings' name."""
    hidden = [
        f"{name} imports {imported}"
        for name, path in modules(*OURS)
        for imported, inside in imports(name, path)
        if inside
    ]
    assert not hidden


@pytest.mark.parametrize(
    "forbidden", ["openai", "anthropic", "debates.tasks", "debates.engine.providers.openai_compatible"]
)
def test_the_web_application_loads_without(forbidden):
    """The SDKs take about a second to import; the web process never needs them."""
    code = f"import config.asgi, sys; sys.exit({forbidden!r} in sys.modules)"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, timeout=60).returncode == 0
