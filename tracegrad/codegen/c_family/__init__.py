"""What CUDA and C share: types, literals, casts, indices, scalar statements."""
