"""The built pages and the status page, where no web server stands in front."""
