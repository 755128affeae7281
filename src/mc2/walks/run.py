"""A run of walks, as everything that walks takes it: on the CPU, on a GPU, with walks that are reflected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mc2.walks.options import Options
from mc2.walks.schedule import Progress, WalkSums
from mc2.walks.start_points import StartPoints


@dataclass(frozen=True)
class Run:
    """Where walks start, how many there are, and how they go.

    budgets: increasing numbers of walks from every point, at which sums are wanted.
    instance: keys the random numbers, with the seed.
    progress: called with (walks done, walks in all).
    begun: sums over the walks that there are already; budgets count them too.
    """

    starts: StartPoints
    budgets: Sequence[int]
    options: Options
    instance: int = 0
    progress: Progress | None = None
    begun: WalkSums | None = None

    def first(self) -> "Run":
        """One walk from the first point."""
        return replace(self, starts=self.starts.first(), budgets=[1], progress=None, begun=None)
