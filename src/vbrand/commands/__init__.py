"""The commands of `vbrand`."""
