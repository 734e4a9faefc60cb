"""Simulations of the paper's theory: coverage of the bounds, consistency, variance."""
