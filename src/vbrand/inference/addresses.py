"""Compiled functions by their addresses: a caller does not compile again what it calls."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import typeof, types
from numba.extending import intrinsic


def address_of(function: Any, *arguments: Any) -> int:
    """Return where a compiled function for arguments such as these lies."""
    kinds = tuple(typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    function.compile(kinds)
    compiled = function.overloads[kinds]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


@intrinsic  # type: ignore[misc]
def call_sweep(_context, address, block, group, scores, winners, statistics):  # type: ignore[no-untyped-def]
    """Call the sweep of a block at an address: its arguments must be of the types that it was compiled for."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kinds = [context.get_value_type(kind) for kind in signature.args[1:]]
        called = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(builder.inttoptr(arguments[0], called.as_pointer()), arguments[1:])

    return types.float64(address, block, group, scores, winners, statistics), build
