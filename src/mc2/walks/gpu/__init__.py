"""Walks on NVIDIA GPUs: one walk per thread."""
