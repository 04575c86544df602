"""The fuzz target of the reader of LIBSVM text."""
