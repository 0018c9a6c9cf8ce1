"""The loops of a program: what they planned, and by which way they were left."""
