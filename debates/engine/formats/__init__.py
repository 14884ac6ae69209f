"""The formats, one file each, found by looking: a new file with a `FORMAT` is a new format."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ..types import Format


@cache
def all_formats() -> dict[str, Format]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {module.FORMAT.slug: module.FORMAT for module in modules}


def find_format(slug: str) -> Format:
    """Raises KeyError where there is none of that name."""
    return all_formats()[slug]
