"""Rows that do not fit into memory: where they lie, and how they are read."""
