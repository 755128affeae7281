"""Statistics: what the zoo is made of, from its records alone, next to what its laws ask for."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.checks import whole
from mc2.geometry.compositions import COMPOSITIONS
from mc2.zoo.filters import FILTERS
from mc2.zoo.instance import VERSION, Instance, generate
from mc2.zoo.laws import FAMILIES, POOLS, RANGES, SHAPES, SPLITS
from mc2.zoo.studies.styling import bars
from mc2.zoo.studies.walking import Report, check_split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
DOMAIN_SHARES = dict.fromkeys((shape.__name__.lower() for shape in SHAPES), 100 / 11) | {
    name: 300 / 11 * part / 7 for name, part in zip(COMPOSITIONS, (3, 2, 2), strict=True)
}
"""Per cent of draws, before any filter."""


def study_statistics(split: str = "train", count: int = 3000, report: Report | None = None) -> dict[str, Any]:
    """Distributions over a split's first instances, as plain data."""
    count = whole("count", count, 1, SPLITS[check_split(split)])

    def instances() -> Iterable[Instance]:
        for index in range(count):
            yield generate(split, index)
            if report and index % 50 == 0:
                report(index + 1, count)

    return {"split": split, "generator_version": VERSION, **count_instances(instances())}


def count_instances(instances: Iterable[Instance]) -> dict[str, Any]:
    """Distributions over any instances.

    Shares are in per cent. `expected` is the share in which laws draw, before filters: what these reject is missing in
    the instances, so the shares found differ from it. Shares of filters are of all attempts.
    """
    families, domains, terms, filters, retries = (Counter[Any]() for _ in range(5))
    atoms = {pool: Counter[str]() for pool in POOLS}
    values: dict[str, dict[str, list[float]]] = {name: {} for name in ("std_u", "std_f", "lam", "k")}
    for instance in instances:
        family = instance.family
        families[family] += 1
        domains[domain_name(instance)] += 1
        terms[len(instance.atoms)] += 1
        filters.update(instance.rejected)
        retries[len(instance.rejected)] += 1
        atoms[family if family in POOLS else "general"].update(atom.type.name for atom in instance.atoms)
        values["std_u"].setdefault(family, []).append(instance.std_u)
        if family != "laplace":
            values["std_f"].setdefault(family, []).append(instance.std_f)
        for name, value in instance.parameters.items():
            values[name].setdefault(family, []).append(value)
    present = [family for family in FAMILIES if families[family]]  # they take turns
    count = families.total()
    attempts = count + filters.total()
    return {
        "count": count,
        "attempts": attempts,
        "families": _shares(families, dict.fromkeys(present, 100 / len(present))),
        "domains": _shares(domains, DOMAIN_SHARES),
        "terms": _shares(terms, dict.fromkeys(range(2, 7), 20.0)),
        "atoms": {pool: _shares(found, _pool_shares(pool)) for pool, found in atoms.items() if found},
        "filters": {name: {"count": filters[name], "share": 100 * filters[name] / attempts} for name in FILTERS},
        "retries": _shares(retries, dict.fromkeys(range(max(retries) + 1))),
        "mean_retries": filters.total() / count,
        "quantiles": {"at": list(QUANTILES), **{name: _quantiles(found) for name, found in values.items() if found}},
        "ranges": {name: [low, high] for name, low, high in RANGES.values() if values[name]},
    }


def domain_name(instance: Instance) -> str:
    """One of the eight shapes, or union, intersection or difference."""
    description = instance.domain.describe()
    return str(description.get("shape", next(iter(description))))


def _shares(found: Counter[Any], expected: Mapping[Any, float | None]) -> dict[str, dict[str, Any]]:
    """Count, per cent and expected per cent by name; names are texts, as in JSON. Foreign ones come last."""
    total = found.total()
    return {
        str(name): {"count": found[name], "share": 100 * found[name] / total, "expected": expected.get(name)}
        for name in [*expected, *sorted(set(found) - set(expected))]
    }


def _pool_shares(pool: str) -> dict[str, float]:
    names = [kind.name for kind in POOLS[pool]]
    return {name: 100 * names.count(name) / len(names) for name in dict.fromkeys(names)}


def _quantiles(found: dict[str, list[float]]) -> dict[str, list[float]]:
    return {family: np.quantile(found[family], QUANTILES).tolist() for family in FAMILIES if family in found}


def draw_statistics(contents: dict[str, Any]) -> "Figure":
    """Bars for every distribution, with marks at what the laws ask for."""
    from mc2.plotting import panels

    title = f"PDEZoo {contents['generator_version']}, {contents['split']}: {contents['count']:,} instances"
    figure, axes = panels(4, f"{title} (marks: as drawn, before filters)", rows=2, size=(3.8, 4.4))
    tables = {
        "family": contents["families"],
        "domain": contents["domains"],
        "atoms in a solution": contents["terms"],
        "retries": contents["retries"],
        "rejected by": contents["filters"],
        **{f"atoms, {pool} pool": table for pool, table in contents["atoms"].items()},
    }
    for ax, (name, table) in zip(axes, tables.items(), strict=False):
        shares = {key: row["share"] for key, row in table.items()}
        unit = "% of attempts" if name == "rejected by" else "% of atoms" if "pool" in name else "% of instances"
        bars(ax, shares, {key: row.get("expected") for key, row in table.items()}, name, unit)
        ax.tick_params(axis="y", labelsize=8)
    for ax in axes[len(tables) :]:
        ax.set_visible(False)
    return figure
