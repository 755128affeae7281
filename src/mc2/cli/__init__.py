"""The `mc2` command: one file per subcommand."""
