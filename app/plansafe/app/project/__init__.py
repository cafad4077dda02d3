"""Input files: where they are found, the project file, the home profile and what is shipped."""
