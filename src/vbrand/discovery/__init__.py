"""Posterior -> answer: a known class or a novel group for every row."""
