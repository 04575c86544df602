"""The experiments of the paper on margin bounds, re-run: its figures beside ours."""
