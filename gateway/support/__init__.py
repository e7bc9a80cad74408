"""What every part of the gateway uses: routes, headers, request ids."""
