"""Rules A323 to A342: what stands around a model: groups of its weights, frozen parts, hooks, averages."""
