"""Inputs that are texts: problems, configurations, expressions, records, entries, results, descriptions of builds."""

import json
from functools import cache
from pathlib import Path

from mc2.benchmark.leaderboard.entries import read_entries, read_entry
from mc2.benchmark.results import read_results
from mc2.functions import read_expression
from mc2.functions.vocabulary import ARITY
from mc2.geometry import SHAPES
from mc2.problems import read_problem
from mc2.problems.families import FAMILIES
from mc2.training.config import read_config
from mc2.zoo import from_record, generate, to_line, to_record
from mc2.zoo.records import read_records
from mc2.zoo.shards import Shards
from validation.fuzzing.child import Input
from validation.fuzzing.mutate import NUMBERS, TOKENS, alter, damage, edit

ROOT = Path(__file__).parents[2]
PARAMETERS = {"lambda": "lam", "k": "k"}
"""Keys of problem files, and what they are called elsewhere."""
ORDINARY = (0.1, 0.25, 0.5, 0.7, 1.0, 1.3)


@cache
def problems():
    """Problem files that are fine, as bytes."""
    return [
        (ROOT / "examples" / "keyhole.toml").read_bytes(),
        b'family = "helmholtz"\nk = 3.0\nexact = "sin(3*x)"\ngrid = 16\n[domain]\nshape = "disk"\nradius = 0.7\n',
        b'family = "biharmonic"\nexact = "x**3*y"\ngrid = 16\ntitle = "Plate"\n[domain]\nunion = [{shape = "disk"}, '
        b'{shape = "rectangle", a = 0.3, b = 0.2, center = [0.9, 0.0], angle = 0.3}]\n',
        b'family = "yukawa"\nlambda = 9.0\nsource = 1\nboundary = "where(x > 0, 1, exp(-y))"\ngrid = 16\n'
        b"[domain]\nshape = 'polygon'\nvertices = [[0, 0], [1, 0], [1, 1], [0, 1]]\n",
    ]


@cache
def configurations():
    return [path.read_bytes() for path in sorted((ROOT / "configs").glob("*.toml"))]


def problem(rng, folder):
    """A problem file: edited, or made of parts that go together or do not."""
    text = edit(rng, rng.choice(problems())) if rng.random() < 0.6 else written(rng)
    path = folder / "p.toml"
    path.write_bytes(text)
    return Input(lambda: read_problem(path))


def written(rng):
    """A problem file from a grammar: most have all that they need, and some have more."""
    family = rng.choice(sorted(FAMILIES))
    kind = FAMILIES[family]
    names = rng.choice([list(kind.data), ["exact"], ["exact", "boundary"]])
    if rng.random() < 0.2:
        names.append(rng.choice(["source", "laplacian", "title", "lambda", "k"]))
    lines = [
        f'family = "{family}"',
        f"grid = {rng.choice([4, 8, 16, 33]) if rng.random() < 0.9 else rng.choice(NUMBERS)}",
    ]
    lines += [f"{key} = {number(rng).lstrip('-')}" for key, name in PARAMETERS.items() if name in kind.parameters]
    for name in dict.fromkeys(names):
        lines.append(
            f"{name} = {quoted(expression(rng, rng.randrange(4), tame=True)) if rng.random() < 0.8 else number(rng)}"
        )
    return "\n".join([*lines, f"domain = {domain(rng, 0)}"]).encode("utf-8", "surrogatepass")


def domain(rng, depth):
    """A domain as an inline table."""
    if depth < 4 and rng.random() < 0.4:
        kind = rng.choice(["union", "intersection", "difference"])
        return f"{{{kind} = [{', '.join(domain(rng, depth + 1) for _ in range(rng.choice([1, 2, 2, 3])))}]}}"
    shape = rng.choice([*SHAPES, "polygon"])
    if shape == "polygon":
        return (
            f'{{shape = "polygon", vertices = [{", ".join(point(rng) for _ in range(rng.choice([2, 3, 4, 5, 12])))}]}}'
        )
    parts = [f"{name} = {number(rng).lstrip('-')}" for name in SHAPES[shape].ranges]
    if rng.random() < 0.5:
        parts += [f"center = {point(rng)}", f"angle = {number(rng)}"]
    return f'{{shape = "{shape}", {", ".join(parts)}}}'


def point(rng):
    return f"[{number(rng)}, {number(rng)}]"


def number(rng):
    """A number as TOML writes it, of ordinary size in most cases."""
    chosen = rng.choice(ORDINARY) * rng.choice([1, 1, -1]) if rng.random() < 0.96 else rng.choice(NUMBERS)
    return str(chosen)


def quoted(text):
    return json.dumps(text)


def expression_text(rng, folder):
    """An expression: from a grammar, and in half of the cases edited."""
    text = expression(rng, rng.randrange(7))
    if rng.random() < 0.5:
        text = edit(rng, text.encode()).decode("utf-8", "replace")

    def run():
        found = read_expression(text)
        found([0.1, 0.2, -0.5], [0.3, 0.0, 2.0])
        return read_expression(found.text)

    return Input(run)


def expression(rng, depth, tame=False):
    """A formula, which may be nonsense unless it is tame."""
    if depth == 0 or rng.random() < 0.15:
        odd = [] if tame else ["1e300", str(rng.choice(NUMBERS)), "z"]
        return rng.choice(["x", "y", "pi", "1", "2.5", "0", "1e-3", "-3", "x", "y", *odd])
    kind = rng.randrange(4)
    if kind < 2:
        sign = rng.choice(["+", "-", "*", "/", "**", "<", ">="])
        return f"({expression(rng, depth - 1, tame)} {sign} {expression(rng, depth - 1, tame)})"
    name = rng.choice(sorted(ARITY))
    count = ARITY[name] if tame or rng.random() < 0.95 else 2
    return f"{name}({', '.join(expression(rng, depth - 1, tame) for _ in range(count))})"


def configuration(rng, folder):
    """A configuration of a training run."""
    path = folder / "c.toml"
    path.write_bytes(edit(rng, rng.choice(configurations())) if rng.random() < 0.6 else settings(rng))
    return Input(lambda: read_config(path))


def settings(rng):
    """A configuration whose network is described by anything."""
    architecture = rng.choice(["sunet", "unet", "fno", "noise-unet"])
    task = {"fno": "operator", "noise-unet": "diffusion"}.get(architecture, "correction")
    names = ["widths", "blocks", "patch", "embedding", "depths", "heads", "head", "window", "mlp", "width", "modes"]
    lines = [f'steps = {number(rng)}\ntask = "{task}"\n[network]\narchitecture = "{architecture}"']
    for name in rng.sample([*names, "layers", "padding", "local", "drop_path"], rng.randrange(1, 4)):
        small = rng.choice([1, 2, 4, 8, 16, 64, 100_000])
        several = (
            f"[{', '.join(str(rng.choice([1, 4, 8, 2048, small])) for _ in range(rng.choice([1, 2, 8, 9, 2000])))}]"
        )
        lines.append(f"{name} = {rng.choice([str(small), several, number(rng), 'true'])}")
    return "\n".join(lines).encode()


def record(rng, folder):
    """A record of PDEZoo: as data, or as a line of a file."""
    instance = generate(rng.choice(["train", "test", "fresh-3"]), rng.randrange(500))
    if rng.random() < 0.6:
        data = to_record(instance) | rng.choice([{}, {"mse_32": 0.5, "tier": "medium"}])
        for _ in range(rng.choice([1, 1, 3])):
            data = alter(rng, data) if isinstance(data, dict) else data
        return Input(lambda: from_record(data))
    path = folder / "r.jsonl"
    path.write_bytes(edit(rng, (to_line(instance) + "\n").encode() * rng.choice([1, 3])))
    return Input(lambda: len(list(read_records(path))))


def other_record(rng, folder):
    """A record under another's index: it must be refused."""
    first, second = rng.sample(range(0, 5000, 5), 2)
    data = to_record(generate("test", first))
    data |= {name: to_record(generate("test", second))[name] for name in ("id", "index")}
    return Input(lambda: from_record(data), refused=True)


@cache
def entries():
    return [path.read_bytes() for path in sorted((ROOT / "leaderboard" / "entries").glob("*.json"))]


def entry(rng, folder):
    """An entry of the leaderboard, alone or in a folder with others."""
    content = rng.choice(entries())
    path = folder / "entry.json"
    if rng.random() < 0.5:
        path.write_bytes(edit(rng, content))
    else:
        path.write_text(json.dumps(alter(rng, json.loads(content))), "utf-8", "surrogatepass")
    if rng.random() < 0.5:
        return Input(lambda: read_entry(path))
    (folder / "evaluated.sha256").write_bytes(damage(rng, b"0" * 64 + b"  entry.json\n"))
    return Input(lambda: read_entries(folder))


def impostor(rng, folder):
    """An entry that must be refused: it says that it was evaluated, has a name alike, or a link with tricks."""
    data = json.loads(rng.choice(entries()))
    (folder / "own.json").write_text(
        json.dumps(data | {"evaluated": None, "evaluated_split": "", "evaluated_count": 0})
    )
    plain = {"method": "mine", "evaluated": None, "evaluated_split": "", "evaluated_count": 0}
    change = rng.choice(
        [
            {"method": "mine"},
            plain | {"method": data["method"].upper() + rng.choice(["", ".", "-"])},
            plain | {"method": data["method"].replace("o", "о").replace("e", "е").replace("i", "і") + "\u200b"},
            plain
            | {"code": rng.choice(["http://a.org", "https://github.com@evil.com/", "https://a.org:1/", "https:a.org"])},
            plain
            | {
                "paper": rng.choice(
                    ["https://xn--80ak6aa92e.com", "https://a.org\\@b.org", "https://аpple.com", "//a.org"]
                )
            },
        ]
    )
    (folder / "other.json").write_text(json.dumps(data | change))
    return Input(lambda: read_entries(folder), refused=True)


RESULTS = {"method": "wos", "families": {"laplace": {"psnr": {"mean": 1.0}}}, "overall": {}, "instances": [{"id": "a"}]}


def results(rng, folder):
    path = folder / "r.json"
    text = json.dumps(alter(rng, RESULTS)).encode("utf-8", "replace")
    path.write_bytes(text if rng.random() < 0.5 else edit(rng, text))
    return Input(lambda: read_results(path))


BUILD = {
    "format": "pdezoo-build", "format_version": 1, "split": "test", "range": [3, 10], "budgets": [1, 8], "grid": 16,
    "bounds": [-1.0, 1.0, -1.0, 1.0], "seed": 5, "device": "cpu", "file_format": "hdf5", "shard_size": 3,
    "generator_version": "1", "sampling": "uniform", "epsilon": 1e-4, "max_steps": 128,
}  # fmt: skip


def description(rng, folder):
    """The description of a build folder."""
    text = json.dumps(alter(rng, BUILD)).encode("utf-8", "replace")
    (folder / "build.json").write_bytes(text if rng.random() < 0.6 else edit(rng, text))
    return Input(lambda: len(Shards(folder, partial=True)))


def strange_file(rng, folder):
    """What is no plain file, or has an odd name, in the place of any file: it must be refused at once."""
    import os

    name = rng.choice(["p", "a\nb", "é", "\udcff", " ", "-", "a" * 200])
    path = folder / f"{name}.toml"
    kind = rng.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(rng.choice(["/dev/zero", "/dev/null", "/dev/tty", str(path), "/proc/self/mem"]))
    elif kind == 3:
        path = Path(rng.choice(["/dev/zero", "/dev/random", "/proc/self/mem", "a\x00b", ""]))
    else:
        token = rng.choice(TOKENS)
        path.write_bytes(token * rng.choice([1, 3_000_000 // len(token)]))
    reader = rng.choice([read_problem, read_config, read_entry, read_results, lambda own: list(read_records(own))])
    return Input(lambda: reader(path), refused=kind < 4 and str(path) != "/dev/null")


TARGETS = {
    "problem": problem, "expression": expression_text, "configuration": configuration, "record": record,
    "record of another": other_record, "entry": entry, "impostor": impostor, "results": results,
    "description": description, "strange file": strange_file,
}  # fmt: skip
