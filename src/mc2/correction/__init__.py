"""Correct: from a noisy estimate to an accurate field, by the equation itself."""
