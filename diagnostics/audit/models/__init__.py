"""Rules A3xx, what stands around a model: weights, frozen parts, averages of weights, pairs and order of samples."""
