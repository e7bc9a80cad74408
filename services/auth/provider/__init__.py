"""Calls of an OpenID Connect provider over HTTP. Imported only where one is configured.

Whatever a provider answers is taken for hostile: its size, its duration, its addresses and its
signatures are checked here.
"""
