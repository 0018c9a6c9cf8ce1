"""Trials of Keras programs: what can be changed at a call of `fit`. Keras 3 on any backend."""
