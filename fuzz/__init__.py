"""Fuzz targets, what they begin with, and what they have found."""
