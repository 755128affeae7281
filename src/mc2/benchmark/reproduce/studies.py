"""What is measured: studies, each a list of rows on one set of instances. A new row is one line here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mc2.benchmark.bias import AVERAGED
from mc2.benchmark.scores import METRICS
from mc2.errors import unknown

SPLIT = "test"
SCORES = (*METRICS, "seconds")
"""Columns of a study of scores. seconds: that the method took for a field, without its walks."""
BALANCE = (*AVERAGED, "improves", "improved_pixels", "lipschitz", "lipschitz_rms", "seconds")
"""Columns of a study of bias and variance; see `mc2.benchmark.bias`."""


@dataclass(frozen=True)
class Row:
    """A method at some budgets.

    method: its name in the registry.
    walks: walks per pixel of the estimates that it is given, one entry of the row each; 0 for a method without walks.
    """

    method: str
    walks: tuple[int, ...] = (8,)


@dataclass(frozen=True)
class Study:
    """Rows that are measured on the same instances: the first ones of the test split.

    name: of its files.
    count: of instances.
    chunk: instances that are done together, and saved together.
    rows: in the order in which they are computed.
    seeds: of the walks; several, where a study is about repeated walks.
    columns: what is measured of every instance, `SCORES` or `BALANCE`.
    """

    name: str
    count: int
    chunk: int
    rows: tuple[Row, ...]
    seeds: tuple[int, ...] = (0,)
    columns: tuple[str, ...] = SCORES

    @property
    def budgets(self) -> tuple[int, ...]:
        """All budgets that some row needs, increasing. They are nested: the walks of one are the first of the next."""
        return tuple(sorted({walks for row in self.rows for walks in row.walks if walks}))

    def row(self, method: str) -> Row:
        """The row of a method."""
        return next(row for row in self.rows if row.method == method)

    def limited(self, count: int | None, methods: Sequence[str] = (), without: Sequence[str] = ()) -> "Study":
        """This study on fewer instances, or with fewer rows.

        methods: the only ones, if any are named.
        """
        rows = tuple(row for row in self.rows if (not methods or row.method in methods) and row.method not in without)
        return replace(self, count=min(count or self.count, self.count), rows=rows)


def powers(last: int) -> tuple[int, ...]:
    """1, 2, 4, … 2^last."""
    return tuple(2**exponent for exponent in range(last + 1))


NETWORKS = ("mc2", "mc2-alone", "mc2-unet", "sunet-compact", "sunet-compact-one-pass")
DENOISERS = ("mean", "gaussian_1", "gaussian_2", "median", "tv", "nlm", "bilateral")

STUDIES = {
    study.name: study
    for study in (
        Study(
            "table", 5_000, 250,
            (
                Row("wos", powers(10)), Row("mc2-physics"), *map(Row, NETWORKS), *map(Row, DENOISERS),
                Row("fno", (0,)), Row("pino", (0,)), Row("fno-fair", (0,)),
                Row("mc2-rounds"), Row("trefftz", (0,)), Row("fd", (0,)),
            ),
        ),
        Study(
            "curve", 100, 5,
            (
                Row("wos", powers(17)), Row("mc2-physics", powers(14)[1:]),
                *(Row(name, powers(14)) for name in NETWORKS),
            ),
        ),
        Study(
            "bias", 25, 5, (*(Row(name) for name in (*NETWORKS, "mc2-physics", "gaussian_1", "tv", "nlm")),),
            seeds=tuple(range(16)), columns=BALANCE,
        ),
    )
}  # fmt: skip
"""table: everything on all of the test split. curve: raw walks to 131,072 and corrections to 16,384 walks per pixel.
bias: what corrections trade, over 16 independent sets of walks. The 100 and 25 instances are the first of the 5,000."""


def chosen_studies(
    names: Sequence[str] = (), *, count: int | None = None, only: Sequence[str] = (), without: Sequence[str] = ()
) -> list[Study]:
    """Studies by their names, all if there are none; those that have rows left.

    count: of instances at most.
    only, without: names of methods.
    """
    for name in names:
        if name not in STUDIES:
            raise unknown("study", name, STUDIES)
    studies = [study for name, study in STUDIES.items() if not names or name in names]
    methods = dict.fromkeys(row.method for study in studies for row in study.rows)
    for name in (*only, *without):
        if name not in methods:
            raise unknown("method of these studies", name, methods)
    limited = [study.limited(count, only, without) for study in studies]
    return [study for study in limited if study.rows]
