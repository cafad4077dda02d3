"""Proofs that no world breaks a plan, and what checks them."""
