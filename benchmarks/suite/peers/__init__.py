"""One library per file; none is imported before it is used."""
