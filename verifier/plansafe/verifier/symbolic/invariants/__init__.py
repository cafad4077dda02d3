"""Invariants of a domain: groups of facts that no action can break, with proofs."""
