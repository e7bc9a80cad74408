"""Where and how Atajo runs."""
