"""What torch idioms in source mean: loaders, wrappers, modules, devices, training loops, trackers.

What helps a rule: `training_loops` (loops that hold a backward), `training_functions` (functions that train, also
through calls), `data_loaders` (calls of DataLoader and their arguments), `model_wrappers` (where DDP, FSDP and others
wrap), `module_classes` and `submodules` (classes of modules and what they hold), `devices` (what is on a GPU),
`gradient_accumulation`, `experiment_trackers`, `picklability`.
"""
