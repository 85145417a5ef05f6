"""Facts -> pictures: for notebooks, and the report."""
