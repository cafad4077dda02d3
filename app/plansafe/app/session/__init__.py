"""Check, repair, diagnose and plan: the operations that every interface calls."""
