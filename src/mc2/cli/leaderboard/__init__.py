"""`mc2 leaderboard`: the leaderboard of PDEZoo, one file per command."""

import typer

from mc2.cli.leaderboard.build import build
from mc2.cli.leaderboard.draw import draw
from mc2.cli.leaderboard.score import score
from mc2.cli.leaderboard.verify import verify

leaderboard = typer.Typer(help="Score, verify and show methods on PDEZoo.", no_args_is_help=True)
leaderboard.command()(score)
leaderboard.command()(draw)
leaderboard.command()(verify)
leaderboard.command()(build)
