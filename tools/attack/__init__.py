"""Attacks the command: bad inputs, options, paths, links, signals; finds what is lost, crashes, hangs or is left behind."""
