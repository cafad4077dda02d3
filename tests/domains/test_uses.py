"""Objects of the same use."""

from __future__ import annotations

from plansafe.domains.objects.table import letters, load_table
from plansafe.domains.objects.uses import find_uses, group_by_use, read_uses


def test_objects_of_one_class_and_of_classes_with_one_use_are_grouped() -> None:
    objects = [
        ("dish_soap_1003", "dish_soap"),
        ("detergent_7", "detergent"),
        ("plate_1", "plate"),
        ("plate_2", "plate"),
    ]
    groups = dict(group_by_use(objects, "virtualhome"))
    assert groups["machine detergent"] == {"dish_soap_1003", "detergent_7"}
    assert groups["plate"] == {"plate_1", "plate_2"}


def test_compounds_have_the_uses_of_their_head() -> None:
    assert "bowl" in find_uses("ceramic_bowl_1", "tableware", "earbench")
    assert find_uses("soup_in_ceramic_bowl_1", "liquid", "earbench") == ()


def test_people_animals_and_unknown_names_have_no_use() -> None:
    assert find_uses("cat_12", "cat", "virtualhome") == ()
    assert find_uses("frobnicator_1", "object", "virtualhome") == ()


def test_every_class_with_a_use_resolves_to_the_table() -> None:
    table = load_table()
    classes = [name for name in read_uses() if name in table.rows or ("", name) in table.names]
    assert len(classes) > 0.8 * len(read_uses())
    assert letters("dish_soap") in classes
