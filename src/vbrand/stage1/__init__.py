"""Labelled rows -> known classes -> prior."""
