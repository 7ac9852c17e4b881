"""From a user's function to what it read: instrumented source and the read-recorder."""
