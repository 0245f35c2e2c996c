"""Rules A151 to A175: samplers, seeds, devices and time limits of the set-up."""
