"""Ways of solving with hinge, one per file."""
