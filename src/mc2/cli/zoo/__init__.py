"""`mc2 zoo`: PDEZoo, one file per command."""

import typer

zoo = typer.Typer(help="PDEZoo: problems with exact solutions, to train and to judge on.", no_args_is_help=True)
