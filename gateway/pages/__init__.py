"""Serves the web pages, if there is no web server in front, and the status page.

files      pages and files
html       the HTML document of all pages
languages  the language of a document
status     the status page
further    the document of further origins
"""
