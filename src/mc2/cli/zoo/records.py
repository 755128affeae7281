"""`mc2 zoo records`: write instances as lines of JSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mc2.cli.arguments import Split, parse_range
from mc2.cli.output import interruptible
from mc2.cli.progress import Report, progress

if TYPE_CHECKING:
    from mc2.zoo import Instance


def records(
    out: Annotated[Path, typer.Option(help="The .jsonl file to write.", show_default=False)],
    split: Split = "test",
    part: Annotated[
        str | None, typer.Option("--range", help="Indices A:B, without B; all if not given.", metavar="A:B")
    ] = None,
) -> None:
    """Write the records of a split, or of a part of it, to a JSONL file."""
    with interruptible():
        from mc2.zoo import write_records

        indices = parse_range(part, split)
        with progress("writing records", "records") as report:
            count = write_records(_generate(split, indices, report), out)
    print(f"{count:,} records of {split} written to {out}")


def _generate(split: str, indices: range, report: Report | None) -> Iterator["Instance"]:
    from mc2.zoo import generate

    for done, index in enumerate(indices):
        if report and done % 100 == 0:
            report(done, len(indices))
        yield generate(split, index)
