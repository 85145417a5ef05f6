"""What the components of a fit mean: which are known classes, which are new."""
