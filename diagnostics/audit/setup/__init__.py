"""Rules A151 to A199: samplers, seeds, devices and time limits of the set-up."""
