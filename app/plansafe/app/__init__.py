"""The application: one service (files, discovery, settings) and its doors, of which the command line is the first."""
