"""What is watched in a process with torch: collectives, modules, steps, loaders, files, the flight recorder."""
