"""What a bisection tells: page, JSON, picture of the module tree, lines on the terminal."""
