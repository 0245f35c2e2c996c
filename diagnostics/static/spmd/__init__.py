"""Which collectives and messages each rank reaches, and where ranks part by the program's text."""
