"""TensorFlow seen from inside: loops written by hand, and tf.data."""
