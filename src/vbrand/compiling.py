"""How loops are compiled: numba, told to write little code and to optimise it once.

numba writes some forty instructions where a number of an array is read, compiles functions that others take in as if
they were called by themselves, and counts who holds which array. Loops over plain arrays need none of that; without it
the first use after an installation waits half as long. What is computed stays the same.
"""

# numba carries few types
# mypy: disable-error-code="no-untyped-call, attr-defined, import-untyped"

from types import FunctionType
from typing import Any, ClassVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, codegen, compiler, lowering, typed_passes, types
from numba.core.compiler_machinery import register_pass
from numba.extending import intrinsic
from numpy.typing import NDArray

# what numba calls the places where functions find what belongs to them
_ENVIRONMENT = "_ZN08NumbaEnv"
# and the part of the code that Python calls
_FROM_PYTHON = "wrapper"
# LLVM leaves half of the longest registers empty, for the sake of processors that slowed down when all were used
_LONG_VECTORS = '"prefer-vector-width"="512"'
# expressions that can be written down in few instructions, and the parts of a pair
_SHORT = ("getattr", "getiter", "iternext", "pair_first", "pair_second")
_PAIR = ("pair_first", "pair_second")
# what is asked of arrays, and what numba calls it
_OF_ARRAYS = {"size": "nitems", "shape": "shape"}
# steps for what plain loops have not: with blocks, functions in functions, literals that types depend on, arithmetic
# with whole arrays, variables that are of one type here and of another there, arrays that somebody holds for a while
_NOT_NEEDED = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "DeadBranchPrune",
    "ReconstructSSA",
    "PreLowerStripPhis",
    "IRLegalization",
}


class _Library(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of one function and of those that it takes in; only that of functions that are called is finished."""

    def __init__(self, maker: Any, name: str, called: bool, attributes: tuple[str, ...]) -> None:
        super().__init__(maker, name)
        self._called, self._attributes = called, attributes

    def add_ir_module(self, ir_module: Any) -> None:
        """Add code; what Python's arguments are unpacked by is not worth to be optimised."""
        attributes = ("noinline", "optnone") if ir_module.name == _FROM_PYTHON else self._attributes
        for function in ir_module.functions:
            for attribute in (*attributes, _LONG_VECTORS) if function.blocks else ():
                set.add(function.attributes, attribute)  # llvmlite's own way knows only words
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave it to the optimisation of the whole."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimise once; numba does it before and after it has taken away counts of who holds what: there are none."""
        if not self._called:
            return
        if hasattr(self._codegen, "_mpm_full"):  # older ones, where it was not measured
            super()._optimize_final_module()
            return
        maker, tuning = self._codegen, codegen.ll.create_pipeline_tuning_options()
        tuning.speed_level, tuning.slp_vectorization = 2, False
        tuning.loop_vectorization = "optsize" not in self._attributes
        tuning.loop_unrolling = False  # where it pays loops are written out; elsewhere it is more to compile
        builder = codegen.ll.create_pass_builder(maker._tm, tuning)
        builder.getModulePassManager().run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        if self._called:
            super()._finalize_final_module()
            return
        # the functions are part of those that take them in, but numba writes down here what belongs to them
        engine = self._codegen._engine
        for each in self._final_module.global_variables:
            if each.name.startswith(_ENVIRONMENT) and not engine.is_symbol_defined(each.name):
                place = self._codegen._create_empty_module(each.name)
                ir.GlobalVariable(place, ir.IntType(8).as_pointer(), each.name).linkage = "common"
                place.globals[each.name].initializer = ir.Constant(ir.IntType(8).as_pointer(), None)
                self._codegen._add_module(codegen.ll.parse_assembly(str(place)))
                engine.finalize_object()
        self._finalized = True


class _Lower(lowering.Lower):  # type: ignore[misc]
    """Writes down what is done with numbers in contiguous arrays, and loops over ranges, in few instructions.

    Indices are never negative.
    """

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind = self.typeof(value.name)
        at = self._indices(kind, index)
        if at is None or (len(at) < kind.ndim and self.context.enable_nrt):
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.loadvar(value.name)
        pointer = self._pointer(kind, array, at)
        if len(at) < kind.ndim:
            return self._part(kind, array, pointer, resty, len(at))
        item = self.context.unpack_value(self.builder, kind.dtype, pointer)
        return self.context.cast(self.builder, item, kind.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind, given = self.typeof(target_var.name), self.typeof(value_var.name)
        at = self._indices(kind, index_var)
        if at is None or len(at) < kind.ndim or not isinstance(given, types.Number | types.Boolean):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        pointer = self._pointer(kind, self.loadvar(target_var.name), at)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, kind.dtype)
        return self.context.pack_value(self.builder, kind.dtype, value, pointer)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op not in _SHORT:
            return super().lower_expr(resty, expr)
        kind = self.typeof(expr.value.name)
        if expr.op == "getattr" and isinstance(kind, types.Array) and expr.attr in _OF_ARRAYS:
            return self._field(kind, self.loadvar(expr.value.name), _OF_ARRAYS[expr.attr])
        if expr.op == "getiter" and isinstance(kind, types.RangeType) and kind.dtype.signed:
            return self._begin(kind, resty, self.loadvar(expr.value.name))
        if expr.op == "iternext" and isinstance(kind, types.RangeIteratorType) and kind.yield_type.signed:
            return self._next(kind, resty, self.loadvar(expr.value.name))
        if expr.op in _PAIR and not self.context.enable_nrt:
            return self.builder.extract_value(self.loadvar(expr.value.name), _PAIR.index(expr.op))
        return super().lower_expr(resty, expr)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return cgutils.alloca_once(self.builder, lltype, name=name)  # without what a debugger would ask for

    def delvar(self, name: str) -> None:
        if self.context.enable_nrt:
            super().delvar(name)

    def _indices(self, kind: Any, index: Any) -> list[Any] | None:
        """Return where in an array an item or a row lies, or None: then numba's own way is gone."""
        if not (isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned):
            return None
        given = self.typeof(index.name)
        parts = given.types if isinstance(given, types.BaseTuple) else (given,)
        plain = all(isinstance(part, types.Integer) for part in parts) and isinstance(
            kind.dtype, types.Number | types.Boolean
        )
        if not plain or len(parts) > kind.ndim:
            return None
        value = self.loadvar(index.name)
        several = isinstance(given, types.BaseTuple)
        values = [self.builder.extract_value(value, i) for i in range(len(parts))] if several else [value]
        return [self.context.cast(self.builder, *each, types.intp) for each in zip(values, parts, strict=True)]

    def _field(self, kind: Any, value: Any, name: str) -> Any:
        position = self.context.data_model_manager[kind].get_field_position(name)
        return self.builder.extract_value(value, position)

    def _pointer(self, kind: Any, array: Any, at: list[Any]) -> Any:
        """Return the address of an item, or of the first one of a row."""
        offset = at[0]
        if kind.ndim > 1:
            shape = self._field(kind, array, "shape")
            for axis in range(1, kind.ndim):
                offset = self.builder.mul(offset, self.builder.extract_value(shape, axis))
                offset = self.builder.add(offset, at[axis]) if axis < len(at) else offset
        return self.builder.gep(self._field(kind, array, "data"), [offset])

    def _part(self, kind: Any, array: Any, pointer: Any, part: Any, axes: int) -> Any:
        """Return what is left of an array when so many of its axes are gone."""
        build, left = self.builder, range(axes, kind.ndim)
        sizes = [build.extract_value(self._field(kind, array, "shape"), axis) for axis in left]
        steps = [build.extract_value(self._field(kind, array, "strides"), axis) for axis in left]
        items = sizes[0]
        for size in sizes[1:]:
            items = build.mul(items, size, flags=["nsw"])
        same = {name: self._field(kind, array, name) for name in ("meminfo", "parent", "itemsize")}
        own = {"nitems": items, "data": pointer, "shape": self._packed(sizes), "strides": self._packed(steps)}
        return self._struct(part, same | own)

    def _packed(self, values: list[Any]) -> Any:
        packed = ir.Constant(ir.ArrayType(values[0].type, len(values)), ir.Undefined)
        for i, value in enumerate(values):
            packed = self.builder.insert_value(packed, value, i)
        return packed

    def _struct(self, kind: Any, fields: dict[str, Any]) -> Any:
        model = self.context.data_model_manager[kind]
        struct = ir.Constant(model.get_value_type(), ir.Undefined)
        for name, value in fields.items():
            struct = self.builder.insert_value(struct, value, model.get_field_position(name))
        return struct

    def _begin(self, kind: Any, iterator: Any, value: Any) -> Any:
        """Return the state of a loop over a range: where it is, and how many rounds are left."""
        build, (start, stop, step) = self.builder, (self._field(kind, value, n) for n in ("start", "stop", "step"))
        one, nought = ir.Constant(step.type, 1), ir.Constant(step.type, 0)
        up = build.icmp_signed(">", step, nought)
        beyond = build.select(up, build.sub(step, one), build.add(step, one))
        count = build.sdiv(build.add(build.sub(stop, start), beyond), step)
        places = []
        for number in (start, count):
            places.append(cgutils.alloca_once(build, number.type))
            build.store(number, places[-1])
        return self._struct(iterator, {"iter": places[0], "stop": stop, "step": step, "count": places[1]})

    def _next(self, kind: Any, pair: Any, state: Any) -> Any:
        """Return where a loop is and whether it goes on, and go on."""
        build = self.builder
        place, rounds = self._field(kind, state, "iter"), self._field(kind, state, "count")
        now, left = build.load(place), build.load(rounds)
        build.store(build.add(now, self._field(kind, state, "step")), place)
        build.store(build.sub(left, ir.Constant(left.type, 1), flags=["nsw"]), rounds)
        on = build.icmp_signed(">", left, ir.Constant(left.type, 0))
        return self._struct(pair, {"first": now, "second": on})


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.BaseNativeLowering):  # type: ignore[misc]
    _name = "vbrand_lowering"  # type: ignore[assignment]

    @property
    def lowering_class(self) -> type[_Lower]:
        return _Lower


class _Flags(compiler.Flags):  # type: ignore[misc]
    """What is asked of the compiler; numba compares it with itself some ten thousand times, option by option."""

    __slots__ = ()
    _same_for_all = hash(tuple(sorted(compiler.Flags.options)))

    def __hash__(self) -> int:
        return self._same_for_all

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Flags) else bool(super().__eq__(other))


class _Typing:
    """numba's knowledge of types, which remembers what operators give instead of asking all who know some each time."""

    _known: ClassVar[dict[Any, Any]] = {}

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def resolve_function_type(self, function: Any, given: Any, named: Any) -> Any:
        if named or not isinstance(function, types.Function):
            return self._own.resolve_function_type(function, given, named)
        # numba notes with the function itself how it is done: with this one, not with one like it
        key = id(function), given
        if key not in self._known:
            self._known[key] = function, self._own.resolve_function_type(function, given, named)
        return self._known[key][1]


class _Compiler(compiler.CompilerBase):  # type: ignore[misc]
    """numba's compiler, with the parts above."""

    attributes: tuple[str, ...] = ()

    def _compile_core(self) -> Any:
        self.state.flags = _Flags(self.state.flags)
        return super()._compile_core()

    def define_pipelines(self) -> list[Any]:
        state, maker = self.state, self.state.targetctx.codegen()
        called = not (state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper)
        state.library = _Library(maker, state.func_id.func_qualname, called, self.attributes)
        state.library.enable_object_caching()
        state.typingctx = _Typing(state.typingctx)
        way = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
        steps = [(each, what) for each, what in way.passes if each.__name__ not in _NOT_NEEDED]
        way.passes = [(_Lowering if each is typed_passes.NativeLowering else each, what) for each, what in steps]
        way.finalize()
        return [way]


class _Apart(_Compiler):
    """The same for functions that are called from many places, and there is one copy of them."""

    attributes = ("noinline",)


class _Small(_Compiler):
    """The same for functions whose own loops take no time: short code instead of fast code."""

    attributes = ("optsize",)


# of all compiled functions: they make no arrays, so that nobody has to count who holds them
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "pipeline_class": _Compiler, "_nrt": False}
# of those that are called from compiled code alone
INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# kept on disk: called from Python, by its address, or both
FROM_PYTHON: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True}
BY_ADDRESS: dict[str, Any] = {"cache": True, "no_cpython_wrapper": True}
jit = numba.njit(**OPTIONS, **FROM_PYTHON)
jit_both_ways = numba.njit(cache=True, **OPTIONS)
# where the time is spent in what is called
jit_small = numba.njit(**(OPTIONS | {"pipeline_class": _Small}), **FROM_PYTHON)
jit_small_both_ways = numba.njit(cache=True, **(OPTIONS | {"pipeline_class": _Small}))
# called from compiled code that takes it in: nothing is compiled or kept for others' sake
inner = numba.njit(**OPTIONS, **INNER)
apart = numba.njit(**(OPTIONS | {"pipeline_class": _Apart}), **INNER)
# of one place in it: read there, instead of being compiled on its own
once = numba.njit(inline="always", nogil=True, error_model="numpy", **INNER)


@intrinsic  # type: ignore[misc]
def _numbers(_context, size):  # type: ignore[no-untyped-def]
    """Return memory for so many numbers, few, that is gone when the function returns; not to be called in a loop."""
    array = types.Array(types.float64, 1, "C")

    def build(context, builder, signature, given):  # type: ignore[no-untyped-def]
        size = context.cast(builder, given[0], signature.args[0], types.intp)
        data = builder.alloca(ir.DoubleType(), size)
        model = context.data_model_manager[array]
        struct = ir.Constant(model.get_value_type(), None)
        one = [ir.Constant(ir.ArrayType(size.type, 1), ir.Undefined)] * 2
        shape = builder.insert_value(one[0], size, 0)
        step = ir.Constant(size.type, 8)
        strides = builder.insert_value(one[1], step, 0)
        fields = {"nitems": size, "itemsize": step, "data": data, "shape": shape, "strides": strides}
        for name, value in fields.items():
            struct = builder.insert_value(struct, value, model.get_field_position(name))
        return struct

    return array(size), build


numbers: Any = _numbers


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as loops want it, contiguous and writeable: itself if it is, for loops that do not write."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable and flags.aligned else np.array(array, order="C")


def from_python(function: Any) -> Any:
    """Return an inner function as one that Python can call, compiled when it first does; others as they are."""
    return jit(function.py_func) if function.targetoptions.get("no_cpython_wrapper") else function


def by_address(function: Any) -> Any:
    """Return a function that Python can call as one that is called by its address alone; itself if it is both.

    Under a name of its own: numba keeps one of each name on disk.
    """
    options = dict(function.targetoptions)
    if not options.pop("no_cfunc_wrapper", False):
        return function
    options.pop("nopython", None)
    own, name = function.py_func, f"{function.py_func.__name__}_by_address"
    again = FunctionType(own.__code__, own.__globals__, name, own.__defaults__, own.__closure__)
    again.__qualname__, again.__module__ = name, own.__module__
    return numba.njit(pipeline_class=function._compiler.pipeline_class, **options, **BY_ADDRESS)(again)
