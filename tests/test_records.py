"""Records behave like the frozen standard dataclasses they stand in for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import ClassVar

import pytest

from goodgain import records


def declare(module):
    """The same classes, clone with the decorator of a module."""

    @module.dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        KIND: ClassVar[str] = "point"
        x: float
        y: float = 2.0
        tags: dict = module.field(default_factory=dict)

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("x is negative")

        @property
        def sum(self):
            return self.x + self.y

    @module.dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
    class Named:
        name: str
        size: int = 0

        def __repr__(self):
            return self.name

    @module.dataclass(frozen=True, init=False, eq=False)
    class Table:
        rows: list
        name: str = "table"

        def __init__(self, *rows):
            object.__setattr__(self, "rows", list(rows))

    return Point, Named, Table


@pytest.fixture(params=[records, dataclasses], ids=["record", "dataclass"])
def classes(request):
    return declare(request.param)


@records.dataclass(frozen=True, slots=True)
class Pair:
    """At the top of a module, so that it can be pickled."""

    left: int
    right: int = 0


@records.dataclass(frozen=True, slots=True)
class Single:
    value: str


def test_fields_and_defaults(classes):
    point_class, named_class, _ = classes
    point = point_class(1.0)
    assert (point.x, point.y, point.tags, point.sum) == (1.0, 2.0, {}, 3.0)
    assert point_class(y=5.0, x=1.0).y == 5.0
    assert point_class(1.0).tags is not point_class(1.0).tags
    assert (named_class(name="n").size, named_class(name="n", size=3).size) == (0, 3)
    assert (point_class.__doc__, point.KIND) == ("A point.", "point")
    assert point_class.__match_args__ == ("x", "y", "tags") and named_class.__match_args__ == ()


def test_equality_hash_and_repr(classes):
    point_class, named_class, _ = classes
    assert point_class(1.0) == point_class(1.0) != point_class(1.0, 3.0)
    assert point_class(1.0) != (1.0, 2.0, {})
    assert repr(point_class(1.0)) == f"{point_class.__qualname__}(x=1.0, y=2.0, tags={{}})"
    one = named_class(name="n")
    assert one == one != named_class(name="n")
    assert len({one, named_class(name="n")}) == 2
    assert repr(one) == "n"


@pytest.mark.parametrize(
    ("args", "values"),
    [((), {}), ((1.0, 2.0, {}, 4), {}), ((1.0,), {"x": 1.0}), ((1.0,), {"z": 1.0})],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_wrong_arguments(classes, args, values):
    with pytest.raises(TypeError):
        classes[0](*args, **values)


def test_only_by_keyword(classes):
    with pytest.raises(TypeError):
        classes[1]("n")


def test_checks_run(classes):
    with pytest.raises(ValueError, match="x is negative"):
        classes[0](-1.0)


def test_frozen_with_slots(classes):
    point = classes[0](1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_own_init_without_slots(classes):
    table_class = classes[2]
    table = table_class(1, 2)
    assert (table.rows, table.name) == ([1, 2], "table")
    assert repr(table) == f"{table_class.__qualname__}(rows=[1, 2], name='table')"
    assert table != table_class(1, 2) and len({table, table_class(1, 2)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.name = "other"
    assert [f.name for f in dataclasses.fields(table)] == ["rows", "name"]
    assert list(inspect.signature(table_class).parameters) == ["rows"]


def test_standard_functions(classes):
    point_class, named_class, _ = classes
    point = point_class(1.0, tags={"a": 1})
    assert [f.name for f in dataclasses.fields(point_class)] == ["x", "y", "tags"]
    assert dataclasses.is_dataclass(point)
    assert dataclasses.asdict(point) == {"x": 1.0, "y": 2.0, "tags": {"a": 1}}
    assert dataclasses.replace(point, y=4.0) == point_class(1.0, 4.0, {"a": 1})
    assert dataclasses.replace(named_class(name="n"), size=2).size == 2
    assert list(inspect.signature(point_class).parameters) == ["x", "y", "tags"]
    assert inspect.signature(named_class).parameters["size"].kind is inspect.Parameter.KEYWORD_ONLY


def test_copies():
    for clone in (
        pickle.loads(pickle.dumps(Pair(1, 2))),
        copy.copy(Pair(1, 2)),
        copy.deepcopy(Pair(1, 2)),
    ):
        assert clone == Pair(1, 2) and hash(clone) == hash(Pair(1, 2))
    assert pickle.loads(pickle.dumps(Single("v"))) == Single("v")
    assert {Single("v"): 1}[Single("v")] == 1
    match Pair(1, 2):
        case Pair(left, right):
            assert (left, right) == (1, 2)


def test_mutable_classes_are_refused():
    with pytest.raises(TypeError, match="frozen"):
        records.dataclass(frozen=False)


def test_defining_one_imports_neither_dataclasses_nor_inspect():
    code = (
        "import sys; before = set(sys.modules); from goodgain.records import dataclass\n"
        "@dataclass(frozen=True, slots=True)\nclass A:\n    x: int\n"
        "A(1); print({'dataclasses', 'inspect'} & set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
