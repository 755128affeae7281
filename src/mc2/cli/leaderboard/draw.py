"""`mc2 leaderboard draw`: fresh problems, to predict on."""

from pathlib import Path
from typing import Annotated

import typer

from mc2.cli.arguments import FreshSeed
from mc2.cli.output import interruptible


def draw(
    out: Annotated[Path, typer.Option(help="The .jsonl file to write.", show_default=False)],
    seed: FreshSeed = None,
    count: Annotated[int, typer.Option(help="Instances; families take turns.")] = 50,
) -> None:
    """Write the records of freshly drawn instances, for which nobody can have prepared."""
    with interruptible():
        from mc2.benchmark.leaderboard.verify import draw_instances, draw_seed, fresh_split
        from mc2.zoo import write_records

        seed = draw_seed() if seed is None else seed
        written = write_records(draw_instances(seed, count), out)
    print(f"{written:,} records of {fresh_split(seed)} written to {out}: verify with --seed {seed} --count {written}")
