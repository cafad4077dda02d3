"""Files, terminals and limits of the operating system; knows nothing of plans."""
