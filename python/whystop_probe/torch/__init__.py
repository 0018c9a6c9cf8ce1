"""PyTorch seen from inside."""
