"""The actions of SafeAgentBench's world where they follow AI2-THOR 5 and the benchmark's controller (SOURCE.md)."""

from __future__ import annotations

import json

import pytest

from plansafe.domains.safeagentbench import WORLD
from plansafe.domains.safeagentbench.object_classes import CLASSES, fits
from plansafe.domains.world import Request, Scene
from plansafe.domains.worlds import world
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report, Worlds


def make_scene(room: str, goal: str = "(and)") -> Scene:
    scene = WORLD.read_scene(Request({"scene": Source("room.txt", room)}, None))
    assert scene.ok, scene.notes
    problem = Source("problem", scene.problem.text.replace("(:goal (and))", f"(:goal {goal})"))
    return scene._replace(problem=problem)


def check(scene: Scene, steps: list[str]) -> Report:
    plan = WORLD.read_plan(Source("plan.txt", "\n".join(steps)), scene).plan
    assert plan is not None
    checker = Checker(scene.domain, scene.problem, scene.specs, Options(replay="always"))
    assert checker.ok, checker.diagnostics
    return checker.check(plan)


def refused_step(room: str, steps: str) -> int | None:
    """Return the first step that the world refuses."""
    report = check(make_scene(room), steps.split("; "))
    return None if report.executable is Worlds.ALL else next(finding.step for finding in report.findings)


def holds_after(room: str, steps: str, condition: str) -> bool:
    """Return whether a condition holds after steps that the world accepts."""
    report = check(make_scene(room, condition), steps.split("; "))
    assert report.executable is Worlds.ALL, report.findings
    return report.goal is Worlds.ALL


MICROWAVE = "find {0}; pick {0}; open Microwave; put Microwave; close Microwave; turn on Microwave"


@pytest.mark.parametrize(
    ("food", "piece", "cooked"),
    [("Potato", "potato_1", True), ("Egg", "egg_1", False), ("Apple", "apple_1", False)],
)
def test_a_running_microwave_heats_and_cooks_its_content(food: str, piece: str, cooked: bool) -> None:
    room, steps = f"{food}, Microwave", MICROWAVE.format(food)
    assert holds_after(room, steps, f"(is_hot {piece})")
    assert holds_after(room, steps, f"(is_cooked {piece})") == cooked


def test_a_microwave_does_not_toast_bread() -> None:
    steps = "slice Bread; " + MICROWAVE.format("Bread")
    assert holds_after("Bread, Microwave", steps, "(and (is_hot breadsliced_1) (not (is_cooked breadsliced_1)))")


@pytest.mark.parametrize("first", ["put", "turn on"])
def test_a_toaster_toasts_a_slice_of_bread(first: str) -> None:
    put = "slice Bread; find Bread; pick Bread; find Toaster; put Toaster"
    steps = f"{put}; turn on Toaster" if first == "put" else f"turn on Toaster; {put}"
    assert holds_after("Bread, Toaster", steps, "(and (is_cooked breadsliced_1) (is_hot breadsliced_1))")


@pytest.mark.parametrize(
    "steps",
    [
        "find Potato; pick Potato; put Pot; find Pot; pick Pot; put StoveBurner; turn on StoveKnob",
        "turn on StoveKnob; find Potato; pick Potato; put Pot; find Pot; pick Pot; put StoveBurner",
        "find Pot; pick Pot; put StoveBurner; turn on StoveKnob; find Potato; pick Potato; put Pot",
    ],
)
def test_a_burner_cooks_the_content_of_a_pot(steps: str) -> None:
    condition = "(and (is_cooked potato_1) (is_hot potato_1) (is_hot pot_1))"
    assert holds_after("Potato, Pot, StoveBurner, StoveKnob", steps, condition)


@pytest.mark.parametrize("first", ["put", "turn on"])
def test_a_coffee_machine_fills_a_mug(first: str) -> None:
    put = "find Mug; pick Mug; put CoffeeMachine"
    steps = f"{put}; turn on CoffeeMachine" if first == "put" else f"turn on CoffeeMachine; {put}"
    assert holds_after("Mug, CoffeeMachine", steps, "(and (filled_with mug_1 coffee) (is_filled mug_1) (is_hot mug_1))")


@pytest.mark.parametrize(
    ("room", "receptacle", "accepted"),
    [
        ("Cloth, Toilet", "Toilet", True),
        ("Watch, Safe", "Safe", True),
        ("Mug, Fridge", "Fridge", False),
        ("Mug, Cabinet", "Cabinet", False),
        ("Mug, Drawer", "Drawer", False),
        ("Mug, Microwave", "Microwave", False),
        ("Book, Box", "Box", False),
        ("Cloth, LaundryHamper", "LaundryHamper", False),
    ],
)
def test_receptacles_that_take_objects_while_closed(room: str, receptacle: str, accepted: bool) -> None:
    object_name = room.partition(",")[0]
    steps = f"find {object_name}; pick {object_name}; put {receptacle}"
    assert refused_step(room, steps) == (None if accepted else 3)
    assert refused_step(room, steps.replace("put", f"open {receptacle}; put")) is None
    # An object in a closed receptacle cannot be found.
    if accepted:
        assert refused_step(room, f"{steps}; find {object_name}") == 4


@pytest.mark.parametrize(
    ("object_name", "receptacle", "accepted"),
    [
        ("Potato", "StoveBurner", False),
        ("Tomato", "CoffeeMachine", False),
        ("Bread", "Toaster", False),
        ("Fork", "Toaster", False),
        ("HandTowel", "TowelHolder", False),
        ("Towel", "HandTowelHolder", False),
        ("Cloth", "ToiletPaperHanger", False),
        ("Pot", "StoveBurner", True),
        ("Kettle", "StoveBurner", True),
        ("Mug", "CoffeeMachine", True),
        ("Towel", "TowelHolder", True),
        ("HandTowel", "HandTowelHolder", True),
        ("ToiletPaper", "ToiletPaperHanger", True),
        # The controller forces the placement: the default receptacles of a class do not matter elsewhere.
        ("Knife", "Sofa", True),
        ("Pillow", "DiningTable", True),
        ("Boots", "Bed", True),
        ("Mug", "Mirror", False),
    ],
)
def test_which_receptacles_accept_an_object(object_name: str, receptacle: str, accepted: bool) -> None:
    room = f"{object_name}, {receptacle}"
    assert refused_step(room, f"find {object_name}; pick {object_name}; put {receptacle}") == (None if accepted else 3)


def test_a_dropped_object_is_on_the_floor() -> None:
    """Rooms of names have a floor, although old layouts do not list it."""
    steps = "find Mug; pick Mug; find Sofa; drop"
    assert holds_after("Mug, Sofa", steps, "(and (contained mug_1 floor_1) (fallen mug_1))")
    again = f"{steps}; find Mug; pick Mug; put Sofa"
    assert holds_after("Mug, Sofa", again, "(and (contained mug_1 sofa_1) (not (fallen mug_1)))")
    assert holds_after("Mug, Floor", "find Mug; pick Mug; throw", "(and (contained mug_1 floor_1) (is_broken mug_1))")


def test_a_thrown_egg_cracks_on_the_floor() -> None:
    steps = "find Egg; pick Egg; throw; find Egg; pick Egg"
    assert holds_after("Egg", steps, "(held eggcracked_1)")


@pytest.mark.parametrize("action", ["slice", "break"])
def test_a_cracked_egg_is_picked_up_as_its_piece(action: str) -> None:
    assert holds_after("Egg, Bowl", f"{action} Egg; find Egg; pick Egg; put Bowl", "(contained eggcracked_1 bowl_1)")


def test_cooking_before_and_after_slicing() -> None:
    assert holds_after("Potato", "cook Potato; slice Potato", "(is_cooked potatosliced_1)")
    assert holds_after("Potato", "slice Potato; cook Potato", "(is_cooked potatosliced_1)")
    assert holds_after("Bread", "slice Bread; cook Bread", "(is_cooked breadsliced_1)")
    assert refused_step("Bread", "cook Bread") == 1
    assert refused_step("Potato", "cook Potato; cook Potato") == 2


@pytest.mark.parametrize(
    "action",
    ["slice Tomato", "cook Potato", "break Egg", "dirty Cup", "clean Cup", "fillLiquid Cup water", "open Book"],
)
def test_no_action_reaches_into_a_closed_receptacle(action: str) -> None:
    name = action.split()[1]
    dirty = "dirty Cup; " if action == "clean Cup" else ""
    put = f"{dirty}find {name}; pick {name}; open Fridge; put Fridge"
    assert refused_step(f"{name}, Fridge", f"{put}; {action}") is None
    assert refused_step(f"{name}, Fridge", f"{put}; close Fridge; {action}") == len(put.split("; ")) + 2


def metadata(*objects: dict[str, object]) -> str:
    return json.dumps([{"objectId": f"{entry['objectType']}|{at}", **entry} for at, entry in enumerate(objects)])


def test_an_occupied_burner_is_full_and_another_one_is_chosen() -> None:
    pots = [{"objectType": "Pot", "parentReceptacles": ["StoveBurner|2"]}, {"objectType": "Pan"}]
    burners: list[dict[str, object]] = [{"objectType": "StoveBurner"}, {"objectType": "StoveBurner"}]
    steps = "find Pan; pick Pan; find StoveBurner; put StoveBurner"
    assert holds_after(metadata(*pots, *burners), steps, "(contained pan_1 stoveburner_2)")
    assert refused_step(metadata(*pots, burners[0]), steps) == 4
    assert refused_step(metadata(*pots, *burners), steps.replace("StoveBurner", "StoveBurner 1")) == 4
    # A list of names has each class once: how many burners there are is unknown.
    more = "find Pot; pick Pot; put StoveBurner; find Pan; pick Pan; put StoveBurner"
    assert refused_step("Pot, Pan, StoveBurner", more) is None


def test_an_object_in_a_closed_receptacle_is_not_chosen() -> None:
    fridge: dict[str, object] = {"objectType": "Fridge", "openable": True, "isOpen": False}
    apples = [{"objectType": "Apple", "parentReceptacles": ["Fridge|0"]}, {"objectType": "Apple"}]
    room = metadata(fridge, *apples)
    assert holds_after(room, "find Apple; pick Apple", "(held apple_2)")
    assert holds_after(room, "open Fridge; find Apple; pick Apple", "(held apple_1)")
    put_away = "find Apple; pick Apple; open Fridge; put Fridge; close Fridge; slice Apple 2"
    assert refused_step(room, put_away) == 6


def test_the_nearest_object_is_chosen_at_first() -> None:
    distances: list[object] = [2.5, 1, 10**400, None]
    room = metadata(*[{"objectType": "Cup", "distance": distance} for distance in distances[:3]])
    assert holds_after(room, "find Cup; pick Cup", "(held cup_3)")  # a number that is too large counts as 0
    room = metadata(*[{"objectType": "Cup", "distance": distance} for distance in distances[:2]])
    assert holds_after(room, "find Cup; pick Cup", "(held cup_2)")


def test_a_pick_with_a_full_hand_is_noted() -> None:
    steps = ["find Mug", "pick Mug", "find Cup", "pick Cup", "put Shelf", "find Cup", "pick Cup"]
    read = WORLD.read_plan(Source("plan", "\n".join(steps)), make_scene("Mug, Cup, Shelf"))
    (note,) = read.diagnostics
    assert note.message == "the hand holds `mug_1`: as in the benchmark, this step changes nothing"
    assert "\n".join(steps)[slice(*note.labels[0].span)] == "pick Cup"
    assert holds_after("Mug, Cup, Shelf", "; ".join(steps), "(and (contained mug_1 shelf_1) (held cup_1))")


def test_opening_and_closing_can_be_repeated() -> None:
    assert holds_after("Fridge", "open Fridge; open Fridge", "(is_open fridge_1)")
    assert holds_after("ShowerDoor", "close ShowerDoor", "(not (is_open showerdoor_1))")
    assert refused_step("Microwave", "turn on Microwave; close Microwave") == 2
    assert refused_step("Mug", "open Mug") == 1


def test_states_that_a_list_of_names_does_not_give_are_assumed() -> None:
    benchmark = world("safeagentbench")
    scene = make_scene("Television, Mirror, Cup, AlarmClock")
    steps = ["turn off Television", "clean Mirror", "empty Cup", "turn on Television", "turn off AlarmClock"]
    plan = benchmark.read_plan(Source("plan", "\n".join(steps)), scene)
    assert plan.assumed == ("(is_toggled television_1)", "(is_dirty mirror_1)", "(is_filled cup_1)")
    room = metadata({"objectType": "Television"})
    assert benchmark.read_plan(Source("plan", "turn off Television"), make_scene(room)).assumed == ()


def test_the_slices_of_a_room_that_was_recorded_after_slicing() -> None:
    apple = {"objectId": "Apple|1", "objectType": "Apple", "isSliced": True}
    slices = [{"objectId": f"Apple|1|AppleSliced_{at}", "objectType": "AppleSliced"} for at in range(2)]
    assert holds_after(metadata(apple, *slices), "find Apple; pick Apple", "(held applesliced_1)")


def test_a_box_that_cannot_be_opened_needs_no_opening() -> None:
    box = {"objectType": "Box", "openable": False}
    room = metadata(box, {"objectType": "Pen"})
    assert refused_step(room, "find Pen; pick Pen; put Box") is None


def test_metadata_decides_over_the_table() -> None:
    room = metadata({"objectType": "AlarmClock", "toggleable": True})
    assert refused_step(room, "turn on AlarmClock") is None


def test_the_table_has_the_types_of_the_domain() -> None:
    domain = make_scene("Mug").domain.text
    types = domain.partition("thing liquid - object")[2].partition("- thing)")[0]
    assert sorted(set(types.split()) - {"drink", "alcohol", "liquid", "-"}) == sorted(CLASSES)


def test_the_rows_of_the_table_agree_with_each_other() -> None:
    for name, row in CLASSES.items():
        assert row.name.lower() == name
        assert row.receptacles <= {
            receptacle for receptacle, entry in CLASSES.items() if "receptacle" in entry.predicates
        }, name
        assert row.piece is None or (row.piece in CLASSES and "sliceable" in row.predicates)
        assert not row.receptacles or "pickupable" in row.predicates
        assert "accepts_only_open" not in row.predicates or "openable" in row.predicates
    specific = [name for name, row in CLASSES.items() if "accepts_only_fitting" in row.predicates]
    accepted = {place: [name for name in CLASSES if fits(name, place)] for place in specific}
    assert accepted == {
        "coffeemachine": ["mug"],
        "handtowelholder": ["handtowel"],
        "stoveburner": ["kettle", "pan", "pot"],
        "toaster": ["breadsliced"],
        "toiletpaperhanger": ["toiletpaper"],
        "towelholder": ["towel"],
    }
