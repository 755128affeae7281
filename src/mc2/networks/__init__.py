"""Networks: ours and those of the baselines, with what the latter are given. All need torch."""
