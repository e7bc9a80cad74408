"""What every process shares: settings, server, channel, errors, logs, metrics, stores."""
