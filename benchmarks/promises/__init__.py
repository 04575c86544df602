"""Measurements of what hinge promises beyond speed: extreme C, and the answer to Ctrl-C."""
