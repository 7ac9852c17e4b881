"""Scripts for contributors; not in the wheel."""
