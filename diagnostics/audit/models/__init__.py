"""Rules A3xx, what stands around a model: weights, frozen parts, averages of weights, pairs, parts and order of samples."""
