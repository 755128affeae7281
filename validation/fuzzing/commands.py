"""Inputs that are command lines, with files that are fine, damaged or missing.

A command must end with code 0; with 1 and one line that begins with `error: `; or with 2 and the usage.
"""

import contextlib
import io
import json
import sys

from mc2.cli.main import main
from validation.fuzzing import arrays, networks, texts
from validation.fuzzing.child import Input
from validation.fuzzing.mutate import TEXTS, edit

FINE = b'family = "laplace"\nboundary = "x"\ngrid = 8\n[domain]\nshape = "disk"\nradius = 0.8\n'
ODD = (
    "", "-1", "0", "1e400", "nan", "9" * 5000, "--", "-", "\x1b[31m", "x,y", "1,", "1:", ":", "0:1", "a/b/c.npz", "/",
    ".", "é",
)  # fmt: skip
WORK = ["--walks", "2", "--grid", "8"]
COMMANDS = {
    "solve": (
        ["p.toml", *WORK],
        "--tolerance --seed --epsilon --max-steps --sampling --corrector --out --plot --start --threads --json"
        " --stratify --device",
    ),
    "certify": (["p.toml", "f.npz", "--walks", "2", "--points", "16"], "--confidence --seed --grid --bounds --json"),
    "show": (["p.toml"], "--out"),
    "info": ([], "--json"),
    "zoo records": (["--out", "r.jsonl", "--range", "0:2"], "--split --range --out"),
    "zoo show": (["4", "--out", "i.png", "--grid", "8"], "--split --walks --grid"),
    "zoo build": (
        ["--out", "b", "--split", "test", "--range", "0:1", "--grid", "8", "--budgets", "1"],
        "--seed --format --shard-size --verify --range --json --budgets",
    ),
    "leaderboard score": (
        ["q.npz", "--grid", "8", "--no-lpips"],
        "--split --count --sha256 --entry --out --json --about --new-entry",
    ),
    "leaderboard build": (["--entries", "entries", "--out", "site/index.html"], "--figures --entries"),
    "leaderboard draw": (["--out", "d.jsonl", "--seed", "7", "--count", "2"], "--seed --count"),
    "evaluate": (
        ["--method", "wos", "--walks", "1", "--count", "1", "--grid", "8", "--no-lpips"],
        "--method --split --families --seed --out --predictions --json",
    ),
}
"""Usual arguments of commands, and options that may be added."""
NAMES = ("p.toml", "f.npz", "entries", "w.safetensors", "out.npz", "out.png", "out.json", "cpu", "cuda")
HEAVY = ("--tolerance", "--max-steps", "--corrector")
"""Options whose odd values may mean much work, which is no fault: they are given few."""


def command(rng, folder):
    """A command with its usual arguments, some options with odd values, and files of which some are damaged."""
    _files(rng, folder)
    name = rng.choice(sorted(COMMANDS))
    usual, options = COMMANDS[name]
    words = [*name.split(), *usual]
    for _ in range(rng.choice([0, 1, 1, 2])):
        option = rng.choice(options.split())
        words += [option] if option in ("--json", "--stratify", "--verify") else [option, _odd(rng, option)]
    if rng.random() < 0.3:
        place = rng.randrange(len(words))
        words[place] = rng.choice([*ODD, *TEXTS[:10]])
    if rng.random() < 0.1:
        del words[rng.randrange(len(words))]
    words = [word.replace("\x00", "") for word in words]  # no command line can have one
    return Input(lambda: _run(words))


def _odd(rng, option):
    if option in HEAVY:
        return rng.choice(["", "-1", "nan", "0", "x", "none.safetensors", "1e9"])
    return rng.choice(
        [*ODD, "p.toml", "f.npz", "entries", "w.safetensors", "out.npz", "out.png", "out.json", "cpu", "cuda"]
    )


def _files(rng, folder):
    """The files that commands name: one of them damaged, in most cases."""
    contents = {
        "p.toml": FINE,
        "f.npz": arrays.fields()[0][".npz"],
        "q.npz": arrays.predictions_file()[0],
        "w.safetensors": networks.weights_file()[0],
        "entries/a.json": texts.entries()[0],
    }
    (folder / "entries").mkdir()
    harmed = rng.choice([*contents, None])
    for name, content in contents.items():
        (folder / name).write_bytes(edit(rng, content) if name == harmed else content)


def _run(words):
    """Run a command in this process; whatever is not as it should be is an AssertionError."""
    said, told = io.StringIO(), io.StringIO()
    sys.argv = ["mc2", *words]
    code = 0
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    lines = [line for line in said.getvalue().splitlines() if not line.startswith("warning: ")]
    assert code in (0, 1, 2), f"{words}: code {code}"
    assert "Traceback" not in said.getvalue(), f"{words}: {said.getvalue()[-300:]}"
    if code == 1 and "--verify" not in words:
        assert len(lines) == 1, f"{words}: {said.getvalue()[:300]!r}"
        assert lines[0].startswith("error: "), f"{words}: {lines[0]!r}"
    if code == 0 and "--json" in words and not {"--help", "--version"} & set(words):
        json.loads(told.getvalue())


TARGETS = {"command": command}
