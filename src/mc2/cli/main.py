"""The door: collects the commands, and turns a user's error into one line and exit code 1."""

import os
import sys
import warnings
from typing import Annotated

import typer

from mc2 import __version__
from mc2.cli.bias import bias
from mc2.cli.certify import certify
from mc2.cli.evaluate import evaluate
from mc2.cli.info import info
from mc2.cli.leaderboard import leaderboard
from mc2.cli.reproduce import reproduce
from mc2.cli.show import show
from mc2.cli.solve import solve
from mc2.cli.train import train
from mc2.cli.zoo import zoo
from mc2.errors import InputError

app = typer.Typer(
    help="Solve 2D elliptic boundary-value problems from a few random walks per pixel.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (solve, certify, show, train, evaluate, bias, reproduce, info):
    app.command()(command)
app.add_typer(zoo, name="zoo")
app.add_typer(leaderboard, name="leaderboard")


def _print_version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options that come before the command."""


def main() -> None:
    """Run the command line."""
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    try:
        try:
            app()
        finally:
            if sys.stdout:  # there is none if it was closed
                sys.stdout.flush()
    except InputError as error:
        said = str(error)  # may have a file's name in it, which can be of any characters
        print(f"error: {said if said.isprintable() else ascii(said)[1:-1]}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if sys.stdout:  # what is still to be printed has no place
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # the reader of our output went away, which is its right
            print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
