"""What is known of a visit: bot or person, device, country, referrer, visitor."""
