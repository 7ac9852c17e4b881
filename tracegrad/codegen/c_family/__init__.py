"""What CUDA and C have in common: types, literals, casts, indices, scalar statements."""
