"""Writes the tables of the documentation from the package and from measured results.

    python docs/tables.py           rewrites what stands between <!-- begin NAME --> and <!-- end NAME --> in docs/*.md
    python docs/tables.py --check   only says whether anything would change

Results are in docs/results, written by the commands that the text names.
"""

import json
import re
import sys
from itertools import groupby
from pathlib import Path

from mc2.geometry import SHAPES
from mc2.problems import GENERAL_ATOMS, HARMONIC_ATOMS
from mc2.zoo.difficulty import TIERS
from mc2.zoo.manifest import shipped_manifest

HERE = Path(__file__).parent


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in lines)


def result(name):
    return json.loads((HERE / "results" / f"{name}.json").read_text("utf-8"))


def named(family, row):
    """Estimators that are not the family's own are always named."""
    return family if row["estimator"] == "standard" else f"{family} ({row['estimator']})"


def conditions(found):
    return (
        f"Generator version {found['generator_version']}, {found['grid']} × {found['grid']} pixels, "
        f"{found['sampling']} sampling, at most {found['max_steps']} steps, seed {found['seed']}, {found['device']}; "
        f"{found['truncated_share']:.4%} of the walks were cut off."
    )


def manifest():
    found = shipped_manifest()
    rows = [(f"`{split}`", f"{own['count']:,}", f"`{own['sha256']}`") for split, own in found["splits"].items()]
    return table(("split", "records", f"SHA-256, generator version {found['generator_version']}"), rows)


def domains():
    rows = []
    for name, shape in SHAPES.items():
        parts = [
            f"{key} = {low:g}" if low == high else f"{key} ∈ U[{low:g}, {high:g}]"
            for key, (low, high) in shape.ranges.items()
        ]
        rows.append((name, ", ".join(parts), (shape.__doc__ or "").splitlines()[0].rstrip(".")))
    return table(("shape", "parameters", "signed distance"), rows)


def atoms(pool):
    def parameters(kind):
        own = [p for p in kind.parameters if p.name != "a" and not re.search(r"_[234]$", p.name)]
        groups = groupby(own, key=lambda p: p.describe())
        return "; ".join(f"{', '.join(p.name for p in group)}: {text}" for text, group in groups) or "—"

    rows = [
        (f"`{name}`" + (" †" if kind.hard else ""), kind.formula, parameters(kind), kind.weight)
        for name, kind in pool.items()
    ]
    return table(("atom", "form", "parameters besides a", "weight"), rows)


def calibration():
    found = result("zoo_calibration")
    rows = [
        (
            named(family, row),
            row["count"],
            f"{row['psnr']:.2f} ± {row['std']:.2f}",
            f"{row['paper']:.2f}",
            f"{row['difference']:+.2f}",
        )
        for family, row in found["families"].items()
    ]
    scores = table(("PSNR at 8 walks, dB", "instances", "mean ± std", "paper", "difference"), rows)
    shares = table(
        ("share of the training mix, %", *TIERS),
        [
            ("PDEZoo", *(f"{share:.1f}" for share in found["tiers"])),
            ("paper", *(f"{share:g}" for share in found["paper_tiers"])),
        ],
    )
    return f"{scores}\n\n{shares}\n\n{conditions(found)}"


def difficulty():
    found = result("zoo_difficulty")
    rows = [
        (named(family, row), row["count"], *(f"{share:.1f}" for share in row["shares"]))
        for family, row in [*found["families"].items(), ("all", found["overall"] | {"estimator": "standard"})]
    ]
    return table((f"`{found['split']}`, %", "instances", *found["tiers"]), rows) + "\n\n" + conditions(found)


def convergence():
    found = result("zoo_convergence")
    rows = [
        (
            named(family, row),
            row["count"],
            *(f"{row[key]:.3f}" for key in ("median", "min", "max")),
            f"{row['within']:.1f}",
        )
        for family, row in [*found["families"].items(), ("all", found["overall"] | {"estimator": "standard"})]
    ]
    header = ("slope", "cases", "median", "min", "max", "% in [−1.05, −0.95]")
    runs = f"Errors are means over {found['repeats']} independent runs of nested budgets. "
    return table(header, rows) + "\n\n" + runs + conditions(found)


BLOCKS = {
    "manifest": manifest,
    "domains": domains,
    "general atoms": lambda: atoms(GENERAL_ATOMS),
    "harmonic atoms": lambda: atoms(HARMONIC_ATOMS),
    "calibration": calibration,
    "difficulty": difficulty,
    "convergence": convergence,
}


def rewritten(text):
    """The text with every block made anew."""

    def block(match):
        name = match.group(1)
        return f"<!-- begin {name} -->\n{BLOCKS[name]()}\n<!-- end {name} -->"

    return re.sub(r"<!-- begin ([^>]+?) -->.*?<!-- end \1 -->", block, text, flags=re.DOTALL)


def main():
    stale = []
    for file in sorted(HERE.glob("*.md")):
        old = file.read_text("utf-8")
        new = rewritten(old)
        if new != old:
            stale.append(file.name)
            if "--check" not in sys.argv:
                file.write_text(new, "utf-8")
    print(f"{'stale' if '--check' in sys.argv else 'rewritten'}: {', '.join(stale) or 'nothing'}")
    return bool(stale) and "--check" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
