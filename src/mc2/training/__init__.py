"""Learn: configurations, one training loop for all networks, checkpoints."""
