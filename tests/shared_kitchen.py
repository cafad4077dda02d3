"""A small kitchen task with an unsafe and a safe plan: the robot heats the hob and goes to the hall."""

from __future__ import annotations

DOMAIN = """(define (domain kitchen) (:requirements :adl)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove) (hot ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (and (on ?s) (hot ?s)))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""
PROBLEM = """(define (problem tea) (:domain kitchen)
  (:objects hob - stove kitchen hall - room)
  (:init (robot-in kitchen) (in hob kitchen))
  (:goal (and (robot-in hall) (hot hob))))
"""
UNSAFE = "(switch-on hob kitchen)\n(go kitchen hall)\n"
SAFE = "(switch-on hob kitchen)\n(switch-off hob kitchen)\n(go kitchen hall)\n"
