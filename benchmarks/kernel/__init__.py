"""Kernel machines: hinge beside other libraries, on the same objective.

Files that a worker imports load neither hinge nor any other library before it is used, because the
worker runs in the environment of the library that it measures.
"""
