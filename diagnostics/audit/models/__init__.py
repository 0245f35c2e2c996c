"""Rules A323 to A349, A361: what stands around a model: weights, frozen parts, means, targets, labels, batches."""
