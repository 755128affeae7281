"""Weights files, and the logs of the runs that made them. Nothing here is code."""
