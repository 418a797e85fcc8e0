"""The converter from models to structural schemas, and the models that it refuses."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from paimon_operator.api.base import rule, validated
from paimon_operator.generate.structural import NotStructuralError, structural


class Leaf(BaseModel):
    """A leaf."""

    value: int | None = None


class Tree(BaseModel):
    """A tree."""

    leaf: Annotated[Leaf | None, Field(description="Described where it is used.")] = None
    leaves: tuple[Leaf, ...] = ()
    colour: str = "green"


class Ruled(BaseModel):
    """With a rule."""

    model_config = validated(rule("self.value > 0", "value must be positive"))

    value: int


class Union(BaseModel):
    """Either."""

    value: int | str


class Recursive(BaseModel):
    """Itself."""

    child: Recursive | None = None


class Anything(BaseModel):
    """No properties."""

    value: dict[str, Any]


def test_references_are_inlined_and_null_is_not_a_type() -> None:
    leaf = {"type": "object", "description": "A leaf.", "properties": {"value": {"type": "integer"}}}
    assert structural(Tree, by_users=True) == {
        "type": "object",
        "description": "A tree.",
        "properties": {
            "leaf": leaf | {"description": "Described where it is used."},
            "leaves": {"type": "array", "x-kubernetes-list-type": "atomic", "items": leaf},
            "colour": {"type": "string", "default": "green"},
        },
    }


def test_the_schema_of_a_status_has_no_defaults_and_no_rules() -> None:
    assert "default" not in structural(Tree, by_users=False)["properties"]["colour"]
    assert "x-kubernetes-validations" in structural(Ruled, by_users=True)
    assert "x-kubernetes-validations" not in structural(Ruled, by_users=False)


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (Union, r"Union.value: a union of 2 types"),
        (Recursive, r"Recursive.child.*contains itself"),
        (Anything, r"Anything.value: an object without properties"),
    ],
)
def test_a_model_without_a_structural_form_is_an_error(model: type[BaseModel], complaint: str) -> None:
    with pytest.raises(NotStructuralError, match=complaint):
        structural(model, by_users=True)
