"""What torch idioms in source mean: loaders, wrappers, modules, devices, training loops, trackers."""
