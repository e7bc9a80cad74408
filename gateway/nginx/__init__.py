"""What a gateway with nginx in front of it leaves to nginx: pages, files, and words for its end."""
