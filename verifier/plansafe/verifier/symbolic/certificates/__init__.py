"""Proofs that no world breaks a plan, and the checker of these proofs."""
