"""Floor 6: from source to something that runs."""
