"""HTML reports: one file that needs no server and loads nothing from the network."""
