"""Rules A3xx, what a loss is made of: its targets, labels and probabilities, and derivatives that it measures."""
