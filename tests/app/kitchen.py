"""A kitchen with one rule, and a plan that breaks it, for tests of commands."""

from __future__ import annotations

RULES = """(define (safety kitchen)
  (:process stove-off-before-leaving :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))) :message "a stove is on in {?from}"))
"""
PLAN = "; tea\n(switch-on hob kitchen) ; for the kettle\n\n; leave\n(go kitchen hall)\n"
FIXED = "; tea\n(switch-on hob kitchen) ; for the kettle\n\n; leave\n(switch-off hob kitchen)\n(go kitchen hall)\n"
