"""Progress that is seen: in notebooks and on terminals, nowhere else."""

import io
import sys
import types

import mc2
from mc2.geometry import Disk


def test_a_line_on_a_terminal_and_nothing_elsewhere(monkeypatch):
    for terminal in (True, False):
        out = io.StringIO()
        out.isatty = lambda terminal=terminal: terminal
        monkeypatch.setattr(sys, "stderr", out)
        mc2.estimate(mc2.Laplace(Disk(), "x"), 8, grid=12, device="cpu", progress=mc2.show_progress("estimating"))
        assert ("estimating 896 of 896 (100%)\n" in out.getvalue()) == terminal
        assert bool(out.getvalue()) == terminal


def test_a_bar_in_a_notebook(monkeypatch):
    shown = []
    handle = types.SimpleNamespace(update=shown.append)
    display = types.ModuleType("IPython.display")
    display.HTML, display.display = str, lambda first, display_id: handle
    shell = types.SimpleNamespace(kernel=1)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    report = mc2.show_progress("<walking>")
    for done in (1, 2, 1000):
        report(done, 1000)
    assert shown[0] == '<progress value="1" max="1000"></progress> &lt;walking&gt; 1 of 1,000 (0%)'
    assert shown[-1].startswith('<progress value="1000" max="1000">')
    assert len(shown) == 2  # not more often than can be seen
