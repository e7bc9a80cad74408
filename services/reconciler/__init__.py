"""Does by itself what goes on after a call was answered: calls the services, has no store."""
