"""Rules A323 to A349: what stands around a model: groups of its weights, frozen parts, hooks, averages, divergences."""
