"""Walks on the CPU: blocks of lanes, one walk per lane."""
