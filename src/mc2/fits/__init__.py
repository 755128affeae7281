"""Approximate: lifts of sources, bases of exact solutions, and fits by walks or by boundary data."""
