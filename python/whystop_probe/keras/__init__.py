"""Keras seen from inside: Keras 3 on any of its backends, and tf-keras 2."""
