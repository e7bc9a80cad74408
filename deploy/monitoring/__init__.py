"""Dashboards, and `make monitor`, which runs Prometheus and Grafana beside the product."""
