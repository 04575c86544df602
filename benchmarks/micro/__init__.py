"""Small benchmarks that guard against regressions: stable names, plain timing loops."""
