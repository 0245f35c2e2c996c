"""Rules A323 to A349: what stands around a model: groups of weights, frozen parts, hooks, averages, targets, pairs."""
