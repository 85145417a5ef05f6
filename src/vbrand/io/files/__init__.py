"""Files out and in again: whole or not at all, nothing that runs."""
