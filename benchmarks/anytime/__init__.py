"""Anytime classification: basis points a label takes, and time against full evaluations."""
