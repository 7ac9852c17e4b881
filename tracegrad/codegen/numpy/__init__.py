"""The target ``numpy``: whole-array calls into planned buffers."""
