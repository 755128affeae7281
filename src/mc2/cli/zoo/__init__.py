"""`mc2 zoo`: PDEZoo, one file per command."""

import typer

from mc2.cli.zoo.build import build
from mc2.cli.zoo.calibrate import calibrate
from mc2.cli.zoo.convergence import convergence
from mc2.cli.zoo.difficulty import difficulty
from mc2.cli.zoo.manifest import manifest
from mc2.cli.zoo.records import records
from mc2.cli.zoo.show import show
from mc2.cli.zoo.stats import stats

zoo = typer.Typer(help="PDEZoo: problems with exact solutions, to train and to judge on.", no_args_is_help=True)
for command in (build, show, records, manifest, stats, difficulty, convergence, calibrate):
    zoo.command()(command)
