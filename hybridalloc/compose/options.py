"""The options of a strategy: the fields of the dataclass it takes as ``config``."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hybridalloc.errors import UsageError
from hybridalloc.registry import nearest

PLAIN = re.compile(r'[^\s,()=@>"]+')
"""A value that needs no quotes."""
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Option:
    """What may be said of a strategy, ``name=value``."""

    name: str
    type: Any
    """The field's: a scalar, an enumeration, or one or another of these."""
    default: object
    description: str
    """The field's docstring on one line; empty without one."""

    @property
    def choice(self) -> str:
        """What may be given, such as ``int or none``."""
        return " or ".join(dict.fromkeys(_choices(self.type)))


def options_of(factory: Callable[..., object]) -> dict[str, Option]:
    """The options by name, in the order of the fields; none without ``config``.

    Fields that hold more than one value are not among them.

    Args:
        factory: The class of a strategy.

    Raises:
        UsageError: Its annotations name what does not exist.
    """
    config = config_of(factory)
    if config is None:
        return {}
    types, descriptions = _type_hints(config), _docstrings(config)
    return {
        field.name: Option(
            field.name,
            types[field.name],
            _default(field),
            descriptions.get(field.name, ""),
        )
        for field in fields(config)
        if field.init and _is_scalar(types[field.name])
    }


def config_of(factory: Callable[..., object]) -> type[Any] | None:
    """The dataclass in the annotation of the parameter ``config``, if there is one.

    Raises:
        UsageError: The annotations name what does not exist.
    """
    is_class = isinstance(factory, type)
    made_by = inspect.getattr_static(factory, "__init__") if is_class else factory
    hint = _type_hints(made_by).get("config")
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and is_dataclass(kind):
            return kind
    return None


def configure(
    name: str, factory: Callable[..., object], settings: Mapping[str, str]
) -> tuple[object, dict[str, object]]:
    """A config with these options.

    Args:
        name: What to call the strategy.
        factory: Its class.
        settings: The text of each option's value, in quotes or not.

    Returns:
        The config, and the options' values in the order of the fields.

    Raises:
        UsageError: There is no such option, or it does not take the value.
    """
    options, config = options_of(factory), config_of(factory)
    if config is None or not options:
        raise UsageError(f"strategy {name!r} has no options")
    for given in settings:
        if given not in options:
            raise UsageError(
                f"strategy {name!r} has no option {given!r}; {nearest(given, options)}"
            )
    values = {
        key: _value(name, option, settings[key])
        for key, option in options.items()
        if key in settings
    }
    try:
        return config(**values), values
    except (TypeError, ValueError) as error:
        raise UsageError(f"options of strategy {name!r}: {error}") from error


def value_text(value: object) -> str:
    """A value as it stands in a text, such that it is read back."""
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return value_text(value.value)
    if not isinstance(value, str):
        return repr(value)
    plain = PLAIN.fullmatch(value) and value.lower() != _NONE
    return value if plain else json.dumps(value)


def _value(name: str, option: Option, text: str) -> object:
    from pydantic import TypeAdapter  # takes long to load

    may_be_none = NoneType in get_args(option.type)
    if text.lower() == _NONE and may_be_none:
        return None
    try:
        plain = json.loads(text) if text.startswith('"') else text
        value: object = TypeAdapter(option.type).validate_strings(plain)
        if value != value:
            raise ValueError("not a number equals nothing, not even what is read back")
    except ValueError as error:
        raise UsageError(
            f"option {option.name!r} of strategy {name!r}: expected {option.choice}, "
            f"got {text}"
        ) from error
    return value


def _type_hints(annotated: Any) -> dict[str, Any]:
    try:
        return get_type_hints(annotated)
    except (NameError, AttributeError) as error:
        raise UsageError(
            f"the types of {annotated.__qualname__} in {annotated.__module__} cannot "
            f"be told: {error}"
        ) from error


def _is_scalar(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_scalar, get_args(hint)))
    if get_origin(hint) is Literal:
        return True
    scalars = (bool, int, float, str, NoneType)
    return isinstance(hint, type) and (hint in scalars or issubclass(hint, Enum))


def _choices(hint: Any) -> list[str]:
    if get_origin(hint) in (Union, UnionType):
        return [choice for part in get_args(hint) for choice in _choices(part)]
    if get_origin(hint) is Literal:
        return [value_text(value) for value in get_args(hint)]
    if issubclass(hint, Enum):
        return [value_text(member) for member in hint]
    if hint is bool:
        return ["true", "false"]
    return [_NONE if hint is NoneType else hint.__name__]


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _docstrings(config: type[Any]) -> dict[str, str]:
    """The string after each field of a class, on one line, if its source is known."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(config))).body
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for field, after in pairwise(body):
        match field, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found
