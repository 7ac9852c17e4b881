"""The target ``numpy``: whole-array calls into planned buffers, blocked where it pays."""
