"""Prometheus and Grafana beside the product: dashboards, and `make monitor`."""
