"""Score: metrics, protocol, results, leaderboard."""
