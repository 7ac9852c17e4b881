"""One captured function's life: guards, specializations, fallback."""
