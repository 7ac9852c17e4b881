"""The IR: text, verifier, rewriting, export, interpreter."""
