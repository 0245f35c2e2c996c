"""Rules A619 to A623, A627 and A636: what a shell, make, Slurm or YAML reads otherwise, or elsewhere, than it looks."""
