"""Commands that are killed, or meet a full disk, at every step that touches a file; and what they leave behind."""
