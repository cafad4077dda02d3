"""Tables about a set of scenarios or risks."""
