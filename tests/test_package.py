"""What every newcomer sees: the import, the README and its example."""

import importlib
import inspect
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

IMPORT = """
import json, sys, time
start = time.perf_counter()
import mc2
seconds = time.perf_counter() - start
print(json.dumps([seconds, sorted({"torch", "matplotlib", "numba", "scipy"} & set(sys.modules))]))
"""


def test_import_is_quick_and_light():
    """Nothing that could compile is even loaded."""
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True) for _ in range(3)]
    results = [json.loads(run.stdout) for run in runs]
    assert min(seconds for seconds, _ in results) < 1
    assert all(loaded == [] for _, loaded in results)


def test_every_public_name_loads():
    import mc2

    for name in mc2.__all__:
        assert getattr(mc2, name) is not None
    assert set(mc2.__all__) == set(dir(mc2))
    with pytest.raises(AttributeError):
        _ = mc2.nothing


def test_help_shows_arguments():
    import mc2

    shown = {name: list(inspect.signature(getattr(mc2, name)).parameters) for name in ("Poisson", "Yukawa", "Grid")}
    assert shown["Poisson"] == ["domain", "source", "boundary", "exact"]
    assert shown["Yukawa"] == ["domain", "source", "boundary", "lam", "exact"]
    assert shown["Grid"] == ["nx", "ny", "bounds"]
    assert list(inspect.signature(mc2.geometry.Disk).parameters) == ["radius", "center", "angle", "name"]


@pytest.mark.parametrize("path", sorted(ROOT.glob("validation/[a-z]*.py")), ids=lambda path: path.stem)
def test_validation_follows_the_package(path):
    importlib.import_module(f"validation.{path.stem}")


@pytest.mark.slow
def test_examples_run(tmp_path):
    """Each in a namespace of its own, one after the other in one process."""
    files = []
    for name in ("README.md", "docs/zoo.md", "docs/solve.md", "docs/conditions.md", "docs/answers.md"):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
        assert len(blocks) >= 2
        for number, block in enumerate(blocks):
            code = re.sub(r"(    batch\..*)", r"\1\n    break", block)  # a stream does not end by itself
            files.append(tmp_path / f"{Path(name).stem}-{number}.py")
            files[-1].write_text(code)
    code = "import runpy, sys\nfor file in sys.argv[1:]:\n    runpy.run_path(file)"
    done = subprocess.run([sys.executable, "-c", code, *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_map_of_rooms_is_the_layout_and_the_order_of_imports():
    table = re.findall(r"^\| (`.*?) \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    rooms = [name for row in table for name in re.findall(r"`([a-z_]+)(?:\.py|/)`", row)]
    there = {
        path.stem
        for path in (ROOT / "src" / "mc2").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(rooms) == there - {"__init__"}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert [f"mc2.{room}" for room in reversed(rooms)] == contracts[0]["layers"]


def test_readme_links_exist():
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text()):
            assert (ROOT / target).exists(), f"{name} links to {target}"


def test_every_make_target_in_the_readme_exists():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        used = re.findall(r"(?:^|`)make (\w+)", (ROOT / name).read_text(), re.MULTILINE)
        assert used
        assert set(used) <= targets
