"""Rules A323 to A349: what stands around a model: weights, frozen parts, means, targets, batches, memories, pairs."""
