"""Rules A6xx: launch lines, containers, limits and environment."""
