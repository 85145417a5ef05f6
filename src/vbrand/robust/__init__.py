"""Stage 1: the rows of one class become a robust centre and scatter."""
