"""What `validation.fuzz` feeds to readers: `targets` are made of `mutate`, and `child` runs one input."""
