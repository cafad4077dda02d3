"""Find and read input files, the project file, the home profile and shipped files."""
