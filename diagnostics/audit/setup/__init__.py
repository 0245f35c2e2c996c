"""Rules A151 to A199 but A161: samplers, seeds, devices and time limits of the set-up."""
