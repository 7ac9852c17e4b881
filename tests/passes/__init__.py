"""The passes, each with text cases and against the interpreter."""
