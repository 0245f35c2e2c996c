"""What is watched in every Python process: its ends, exceptions, children, threads, forks, signals."""
