"""The leaderboard of PDEZoo: files of predictions, their scores, entries, verification on fresh problems, the page."""

from mc2.benchmark.leaderboard.entries import Entry, make_entry, read_entries, read_entry, write_entry
from mc2.benchmark.leaderboard.predictions import Predictions, read_predictions, write_predictions
from mc2.benchmark.leaderboard.scoring import score_predictions

__all__ = [
    "Entry",
    "Predictions",
    "make_entry",
    "read_entries",
    "read_entry",
    "read_predictions",
    "score_predictions",
    "write_entry",
    "write_predictions",
]
