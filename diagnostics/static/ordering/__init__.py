"""The order of set-up calls: traces of a program from its entry points, life time of the process group."""
