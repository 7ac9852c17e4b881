"""Floor 5: from graphs to kernels to source text, by templates."""
