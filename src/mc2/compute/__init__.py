"""Compiled arithmetic: how functions are compiled, and elementary functions that vectorise."""
