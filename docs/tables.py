"""Writes the tables and figures of the documentation from the package and from measured results.

    python docs/tables.py           rewrites what stands between <!-- begin NAME --> and <!-- end NAME --> in PAGES
    python docs/tables.py --check   only says whether anything would change

Results are in docs/results, written by the commands that the text names.
"""

import re
import sys
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from mc2.benchmark.results import PLACES
from mc2.geometry import SHAPES
from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS
from mc2.zoo.difficulty import TIERS
from mc2.zoo.manifest import shipped_manifest

sys.path.insert(0, str(Path(__file__).parent.parent))
from docs import (
    coefficient_tables,
    drawing_tables,
    limit_tables,
    network_tables,
    quantity_tables,
    result_tables,
)
from docs.figures import draw_all, stale
from docs.measured import HERE, result, shown
from validation.markdown import table


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


def rounds():
    rows = []
    for walks in (8, 16, 24):
        found = result(f"rounds_{walks}")
        per_family = {family: [] for family in PLACES[:-1]}
        for row in found["instances"]:
            per_family[row["family"]].append(row["psnr"])
        scores = (f"{np.median(own):.1f} ({np.quantile(own, 0.05):.1f})" for own in per_family.values())
        rows.append((walks, *scores, f"{found['overall']['seconds']['median']:.3f}"))
    return table(("walks; PSNR, dB, median (5th percentile)", *PLACES[:-1], "seconds, median"), rows)


def validated(part):
    """A part of what `python -m validation.solve` found."""
    rows = result("solve")[part]["table"]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return table(names, [[shown(row.get(name)) for name in names] for row in rows])


def certified_fields():
    """What `python -m validation.certify` found."""
    rows = result("certify")["table"]
    return table(list(rows[0]), [[shown(value) for value in row.values()] for row in rows])


def star_bias():
    """The bias of walks that are reflected, over ε."""
    found = result("stars_bias")
    names = [name for name in found["rows"][0] if name != "epsilon"]
    rows = [
        (f"{row['epsilon']:g}", *(f"{row[name][0]:+.3f} ± {row[name][1]:.3f}" for name in names))
        for row in found["rows"]
    ]
    return table((f"error at ε, {found['walks']:,} walks", *names), rows)


def stars():
    """Walks that are reflected, against exact solutions."""
    found = result("stars")
    rows = []
    for name, mean in found["groups"].items():
        own = [row for row in found["rows"] if f"{row['equation']}, {row['conditions']}" == name]
        largest, spread = max(row["largest"] for row in own), np.sqrt(np.mean([row["std of z"] ** 2 for row in own]))
        steps = " … ".join(f"{end(row['steps'] for row in own):.0f}" for end in (min, max))
        pixels, cut = sum(row["pixels"] for row in own), sum(row["truncated"] for row in own)
        rows.append((name, pixels, f"{mean:+.3f}", f"{spread:.3f}", f"{largest:.2f}", steps, cut))
    return table((f"{found['walks']:,} walks", "pixels", "mean z", "std of z", "largest", "steps", "cut off"), rows)


def stars_on_gpu():
    """Walks that are reflected, on a GPU."""
    found = result("stars_cuda")
    rows = [
        (f"{found['instances']} instances, packing included, milliseconds", f"{found['milliseconds']:.0f}"),
        ("packing, milliseconds an instance", f"{found['packing, milliseconds an instance']:.1f}"),
        ("walks a second, in millions", f"{found['walks/s'] / 1e6:.0f}"),
        ("steps a walk", f"{found['steps a walk']:.1f}"),
    ]
    return table((f"split conditions, B = {found['walks']}, 256², {found['device']}", ""), rows)


def hunted():
    """What `python -m validation.hunt` found, kind by kind."""
    found = result("hunt")
    rows = [{"kind": kind} | own for kind, own in (*found["kinds"].items(), ("overall", found["overall"]))]
    names = ("kind", "cases", "solved", "refused", "rms held", "mean held", "foreign held", "within", "worst", "broken")
    return table(names, [[shown(row[name]) for name in names] for row in rows])


def many_corners():
    """What `python benchmarks/corners.py --json --peers` found."""
    rows = []
    for how, name in (("ours", "MC²"), ("ngsolve", "NGSolve")):
        for row in result("corners").get(how, []):
            failed = row.get("failed") or row.get("missing")
            own = [shown(row.get(key)) for key in ("seconds", "certified", "error", "unknowns", "peak_mb")]
            rows.append((row["case"], name, f"{row.get('tolerance', 0):g}", *(["failed"] * 5 if failed else own)))
    names = ("vertices", "by", "tolerance", "seconds", "certified", "true error", "unknowns", "MB")
    return table(names, sorted(rows, key=lambda row: (not row[0].isdigit(), len(row[0]), row[0])))


def hunted_lines(rows, names):
    """Cases of the hunt."""
    return table(names, [[shown(row[name]) for name in names] for row in rows])


def speed():
    found = result("solve_speed")
    rows = []
    for part, own in found.items():
        rows += [(part, name.replace("_", " "), shown(value)) for name, value in own.items()]
    return table(("", "measured", "value"), rows)


PAGES = (HERE.parent / "README.md", *sorted(HERE.glob("*.md")))
CLAIMS = ("true rms", "bar", "certified at most", "within", "converged")
"""What is shown of a case of the hunt."""
BLOCKS = {
    "manifest": manifest,
    "domains": domains,
    "general atoms": lambda: atoms(GENERAL_ATOMS),
    "harmonic atoms": lambda: atoms(HARMONIC_ATOMS),
    "calibration": calibration,
    "difficulty": difficulty,
    "convergence": convergence,
    "star bias": star_bias,
    "stars": stars,
    "stars on a GPU": stars_on_gpu,
    "rounds": rounds,
    **{part: partial(validated, part) for part in ("rough", "coverage", "certificates", "unbiased", "oracle")},
    "speed": speed,
    "corners": many_corners,
    "fields": certified_fields,
    "hunt": hunted,
    "hunt, worst": lambda: hunted_lines(result("hunt")["worst"], ("case", "kind", "family", *CLAIMS, "broken")),
    "known": lambda: hunted_lines(result("hunt_known"), ("name", "family", *CLAIMS, "reason")),
    **result_tables.BLOCKS,
    **network_tables.BLOCKS,
    **limit_tables.BLOCKS,
    **quantity_tables.BLOCKS,
    **drawing_tables.BLOCKS,
    **coefficient_tables.BLOCKS,
}


def rewritten(text):
    """The text with every block made anew."""

    def block(match):
        name = match.group(1)
        return f"<!-- begin {name} -->\n{BLOCKS[name]()}\n<!-- end {name} -->"

    return re.sub(r"<!-- begin ([^>]+?) -->.*?<!-- end \1 -->", block, text, flags=re.DOTALL)


def main():
    check, old_files = "--check" in sys.argv, []
    if stale():
        old_files.append("figures")
        if not check:
            draw_all()
    for file in PAGES:
        old = file.read_text("utf-8")
        new = rewritten(old)
        if new != old:
            old_files.append(file.name)
            if not check:
                file.write_text(new, "utf-8")
    print(f"{'stale' if check else 'rewritten'}: {', '.join(old_files) or 'nothing'}")
    return bool(old_files) and check


if __name__ == "__main__":
    sys.exit(main())
