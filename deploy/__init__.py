"""Runs Atajo: locally, in containers, behind nginx, on Kubernetes, and under monitoring."""
