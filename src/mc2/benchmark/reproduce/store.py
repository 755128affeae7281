"""What is done: scores of every method and instance, in small files as they come and in one file per study.

A folder holds `settings.json`; `chunks/STUDY/METHOD/FIRST-LAST.npz`, written as work is done; and, when a run ends,
`STUDY.npz` with every number and `STUDY.json` with means and their standard errors. A run goes on from either: to
continue elsewhere, it is enough to take `settings.json` and the `STUDY.npz` files along.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.reproduce.studies import SPLIT, Study
from mc2.errors import InputError
from mc2.files import make_folder, replacing, write_json, write_text
from mc2.reading.json import read_object
from mc2.reading.npz import open_npz, refusing
from mc2.reading.plain import naming
from mc2.zoo import FAMILIES, VERSION
from mc2.zoo.difficulty import TIERS, measured_tier
from mc2.zoo.laws import family_of

MAX_SUMMARY = 16 << 20
"""Bytes of a study's summary."""
Values = NDArray[np.float32]


def check_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write what a folder's numbers depend on; refuse a folder whose numbers were measured otherwise."""
    path = folder / "settings.json"
    if not path.exists():
        write_json(path, settings)
        return
    with naming(path):
        found = read_object(path, "settings of a reproduction")
        for name, value in settings.items():
            if found.get(name) != value:
                raise InputError(f"has {name} = {found.get(name)!r}, not {value!r}: choose another folder")


class Store:
    """The numbers of one study: for every method, float32 [walks of the row, instance, column]; NaN until done."""

    def __init__(self, folder: Path, study: Study) -> None:
        self.folder, self.study = folder, study
        self.spent = 0.0  # seconds of this run
        self.values = {
            row.method: np.full((len(row.walks), study.count, len(study.columns)), np.nan, np.float32)
            for row in study.rows
        }
        self.packed: dict[str, Values] = {}  # as they were read, with methods and instances that are not asked for now
        if (folder / f"{study.name}.npz").exists():
            self._read_packed(folder / f"{study.name}.npz")
        for row in study.rows:
            for path in sorted(self._chunks(row.method).glob("*.npz")):
                self._read_chunk(path, row.method)

    def done(self, method: str) -> NDArray[np.bool_]:
        """Which instances are done: those whose seconds are known."""
        known: NDArray[np.bool_] = np.all(np.isfinite(self.values[method][:, :, -1]), axis=0)
        return known

    def missing(self, indices: NDArray[np.int64]) -> list[str]:
        """Methods that are not done for some of these instances."""
        return [row.method for row in self.study.rows if not self.done(row.method)[indices].all()]

    def write(self, method: str, indices: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Keep the numbers [walks of the row, instance, column] of some instances, in a file of their own."""
        folder = self._chunks(method)
        make_folder(folder)
        found = values.astype(np.float32)
        with replacing(folder / f"{indices[0]:05d}-{indices[-1]:05d}.npz") as file:
            np.savez(file, allow_pickle=False, index=indices, values=found)
        self.values[method][:, indices] = found

    def pack(self, notes: dict[str, Any], hardware: dict[str, Any]) -> list[Path]:
        """Write every number into one file, and a summary beside it, with the minutes that each run took.

        The file keeps what it held of other methods and further instances; the summary is of this study alone.

        notes: for the summary.
        hardware: of this run.
        """
        path = self.folder / f"{self.study.name}.npz"
        runs = self._earlier_runs(path.with_suffix(".json"))
        if self.spent:
            runs.append({"minutes": round(self.spent / 60, 2), "hardware": hardware})
        with replacing(path) as file:
            np.savez_compressed(file, allow_pickle=False, **self._everything())
        rows = [
            {"method": row.method, "walks": walks} | self._summary(self.values[row.method][place])
            for row in self.study.rows
            for place, walks in enumerate(row.walks)
        ]
        head = {
            "study": self.study.name,
            "split": SPLIT,
            "generator_version": VERSION,
            "count": self.study.count,
            "seeds": list(self.study.seeds),
            "columns": list(self.study.columns),
            **notes,
            "runs": runs,
        }
        lines = ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows)
        text = json.dumps(head, ensure_ascii=False, allow_nan=False, indent=1)
        write_text(path.with_suffix(".json"), f'{text[:-2]},\n "rows": [\n  {lines}\n ]\n}}\n')
        return [path, path.with_suffix(".json")]

    @staticmethod
    def _earlier_runs(path: Path) -> list[Any]:
        if not path.exists():
            return []
        with naming(path):
            return list(read_object(path, "summary of a study", MAX_SUMMARY).get("runs", []))

    def _everything(self) -> dict[str, Values]:
        """The numbers with those that were packed before and are not of this study."""
        found = self.packed | self.values
        for method, values in self.values.items():
            if method in self.packed:
                found[method] = np.concatenate([values, self.packed[method][:, self.study.count :]], axis=1)
        return found

    def _summary(self, values: Values) -> dict[str, Any]:
        """Statistics of one entry [instance, column] over the instances that are done."""
        done = np.isfinite(values[:, -1])
        indices = np.flatnonzero(done)
        families = np.array([family_of(SPLIT, int(index)) for index in indices])
        tiers = np.array([measured_tier(SPLIT, int(index), VERSION) for index in indices])
        own = values[indices].astype(float)
        groups = {"families": (families, FAMILIES), "tiers": (tiers, TIERS)}
        parts = {
            group: {name: self._statistics(own[labels == name]) for name in names if (labels == name).any()}
            for group, (labels, names) in groups.items()
        }
        return {"overall": self._statistics(own), **parts}

    def _statistics(self, values: NDArray[np.float64]) -> dict[str, Any]:
        """Mean, standard error of the mean, standard deviation and median of every column; failed: without a score."""
        failed = int(np.isnan(values[:, 0]).sum())
        found: dict[str, Any] = {"count": len(values), "failed": failed}
        for number, name in enumerate(self.study.columns):
            column = values[np.isfinite(values[:, number]), number]
            if column.size:
                error = float(column.std(ddof=1) / np.sqrt(column.size)) if column.size > 1 else 0.0
                numbers = float(column.mean()), error, float(column.std()), float(np.median(column))
                names = ("mean", "standard_error", "std", "median")
                found[name] = {key: float(f"{value:.6g}") for key, value in zip(names, numbers, strict=True)}
        return found

    def _chunks(self, method: str) -> Path:
        return self.folder / "chunks" / self.study.name / method

    def _read_chunk(self, path: Path, method: str) -> None:
        with naming(path), path.open("rb") as file, refusing():
            arrays = open_npz(file)
            if not {"index", "values"} <= arrays.headers.keys():
                raise InputError("is no file of scores: it needs index and values")
            index, values = arrays.read("index"), arrays.read("values")
            whole = self.values[method]
            if index.dtype != np.int64 or values.shape != (len(whole), len(index), whole.shape[2]):
                raise InputError("was made for other walks or columns: remove it, or choose another folder")
            inside = (index >= 0) & (index < self.study.count)
            whole[:, index[inside]] = values[:, inside]

    def _read_packed(self, path: Path) -> None:
        with naming(path), path.open("rb") as file, refusing():
            arrays = open_npz(file)
            self.packed = {method: arrays.read(method) for method in arrays.headers}
            for method, whole in self.values.items():
                if method in self.packed:
                    found = self.packed[method]
                    if found.ndim != 3 or found.shape[::2] != whole.shape[::2]:
                        raise InputError(f"{method} is for other walks or columns: remove it, or choose another folder")
                    common = min(found.shape[1], whole.shape[1])
                    whole[:, :common] = found[:, :common]
