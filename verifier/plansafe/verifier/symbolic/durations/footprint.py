"""What the events of a timed plan may read and write, in whatever state: which of them may be taken in either order."""

from __future__ import annotations

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.execution.timed import END, Event
from plansafe.verifier.model.footprints import Footprint, Footprints, empty_footprint


def of_event(footprints: Footprints, event: Event) -> Footprint:
    """An event: its conditions, the constraints on its duration, and its effects."""
    if event.step is not None and isinstance(event.step.taken, GroundAction):
        return footprints.of_action(event.step.taken.action, event.step.taken.binding, event.kind == END)
    out = empty_footprint()
    if event.literal is not None:
        literal = event.literal
        code = footprints.task.encode(literal.arguments)
        if literal.fluent:
            footprints.assign(literal.predicate, code, "assign", out)
        else:
            (out.adds if literal.value else out.deletes).add((literal.predicate, code))
    return out


def of_effects(footprints: Footprints, event: Event) -> Footprint:
    """What the effects of an event depend on: nothing, unless they are conditional or compute with fluents."""
    out = empty_footprint()
    if event.step is not None and isinstance(event.step.taken, GroundAction):
        for effect in event.snap.effects:
            for binding in footprints.task.bindings(effect.variables, event.step.taken.binding):
                footprints.depend(effect, binding, out)
                footprints.read((effect.at_start,), binding, out)
    return out
