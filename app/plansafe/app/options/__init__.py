"""The options of all interfaces: what an option is, and the groups that several commands share."""
