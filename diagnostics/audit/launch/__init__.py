"""Rules A521, A522, A524, A6xx but for those of signals and scripts: launch lines, containers, limits, environment."""
