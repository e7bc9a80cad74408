"""Generates what nginx in front of the gateway needs: routes, headers, errors and pages.

includes   configuration files from deploy/edge.toml
webroot    pages and files of the build
"""
