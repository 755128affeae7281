"""Puts what `mc2 reproduce` measured into docs/results, with what the pages show and no more.

    python docs/reproduced.py FOLDER

FOLDER is the one that `mc2 reproduce FOLDER` wrote. Every number of every instance stays there; what comes here are
means and their standard errors. Beside what was measured on fewer instances stand means of every method over the same
ones: `first 100` and `first 500` of the test split.
"""

import json
import sys
from pathlib import Path

import numpy as np

from mc2.benchmark.reproduce import STUDIES
from mc2.benchmark.scores import METRICS
from mc2.files import write_text
from mc2.zoo.laws import families_of, family_of

RESULTS = Path(__file__).parent / "results"
SUBSETS = (100, 500)
"""Instances that slow methods were measured on: all after each other from the first."""
TRAINED = families_of("train")
"""Families that networks were trained on; diffusion models can play in no others."""
CHECKED = 5
"""Instances whose PSNR is kept one by one, for a test to repeat."""


def keep(numbers, names):
    """A group's count and what is shown of its statistics."""
    shown = {
        name: {key: numbers[name][key] for key in ("mean", "standard_error", "median")}
        for name in names
        if name in numbers
    }
    return {"count": numbers["count"], "failed": numbers["failed"]} | shown


def trimmed(summary):
    """Rows with what is shown of them."""
    rows = []
    for row in summary["rows"]:
        own = {"method": row["method"], "walks": row["walks"], "overall": keep(row["overall"], summary["columns"])}
        if summary["study"] == "table":
            own["families"] = {name: keep(part, METRICS) for name, part in row["families"].items()}
            own["tiers"] = {name: keep(part, ("psnr",)) for name, part in row["tiers"].items()}
        rows.append(own)
    return rows


def mean_and_error(values):
    return {
        "count": len(values),
        "mean": round(float(values.mean()), 4),
        "standard_error": round(float(values.std(ddof=1) / np.sqrt(len(values))), 4),
    }


def means(psnr):
    """Mean PSNR of the first instances: by family, over all, and over the families of training."""
    families = np.array([family_of("test", index) for index in range(len(psnr))])
    found = {family: mean_and_error(psnr[families == family]) for family in dict.fromkeys(families)}
    return found | {"overall": mean_and_error(psnr), "trained": mean_and_error(psnr[np.isin(families, TRAINED)])}


def subset(study, packed, count):
    """Every row of a study over the first instances alone."""
    return [
        {"method": row.method, "walks": walks} | means(packed[row.method][place, :count, 0].astype(float))
        for row in study.rows
        for place, walks in enumerate(row.walks)
    ]


def write(name, found):
    """One row per line; every value that is a list of rows comes last."""
    lists = {key: value for key, value in found.items() if key.startswith(("rows", "first "))}
    head = {key: value for key, value in found.items() if key not in lists}
    text = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    for key, rows in lists.items():
        text += f',\n "{key}": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n ]"
    write_text(RESULTS / f"reproduce_{name}.json", text + "\n}\n")


def main():
    folder = Path(sys.argv[1])
    for name, study in STUDIES.items():
        found = json.loads((folder / f"{name}.json").read_text("utf-8"))
        packed = np.load(folder / f"{name}.npz", allow_pickle=False)
        if name == "curve":
            seconds = [row["overall"]["seconds"]["mean"] for row in found["rows"]]
            rows = subset(study, packed, study.count)
            found["rows"] = [row | {"seconds": own} for row, own in zip(rows, seconds, strict=True)]
        else:
            found["rows"] = trimmed(found)
        if name == "table":
            for row in found["rows"]:
                place = study.row(row["method"]).walks.index(row["walks"])
                row["each"] = [round(float(own), 4) for own in packed[row["method"]][place, :CHECKED, 0]]
            found |= {f"first {count}": subset(study, packed, count) for count in SUBSETS}
        write(name, found)


if __name__ == "__main__":
    main()
