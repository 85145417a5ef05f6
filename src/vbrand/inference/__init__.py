"""How it is found: loops, no formulas."""
