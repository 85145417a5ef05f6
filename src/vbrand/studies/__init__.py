"""The published studies: simulate, run, draw."""
