"""Compiled functions by their addresses: a caller does not compile again what it calls."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from vbrand.compiling import by_address


def address_of(function: Any, *arguments: Any) -> int:
    """Return where a compiled function for arguments such as these lies."""
    function = by_address(function)
    kinds = tuple(typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    function.compile(kinds)
    compiled = function.overloads[kinds]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def _plain(kind: Any) -> bool:
    """Return whether all arrays of a type are contiguous and writeable, as those of samples are: nobody else looks."""
    if isinstance(kind, types.Array):
        return bool(kind.layout == "C" and kind.mutable)
    return all(_plain(part) for part in getattr(kind, "types", ()))  # those of a tuple


def _calling(result: Any) -> Any:
    """Return a compiled function that calls one at an address, whose result is of this type."""

    @intrinsic  # type: ignore[misc]
    def call(_context, address, arguments):  # type: ignore[no-untyped-def]
        if not _plain(arguments):
            raise TypeError("arrays that are passed on by address must be contiguous and writeable")

        def build(context, builder, signature, given):  # type: ignore[no-untyped-def]
            kinds = [context.get_value_type(kind) for kind in signature.args[1].types]
            called = ir.FunctionType(context.get_value_type(result), kinds)
            unpacked = cgutils.unpack_tuple(builder, given[1])  # type: ignore[no-untyped-call]
            return builder.call(builder.inttoptr(given[0], called.as_pointer()), unpacked)

        return result(address, arguments), build

    return call


# the arguments, a tuple, must be of the types that the function was compiled for
call, call_for_number, call_for_truth = _calling(types.none), _calling(types.float64), _calling(types.boolean)
