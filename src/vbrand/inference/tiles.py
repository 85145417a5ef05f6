"""Tiles of matrix products, written in vector instructions instead of being left to the compiler.

A tile is a few rows of a factor times a few vectors of lanes, or a few rows of deviations times a few others. Its sums
stay in registers while a loop runs over what is summed, so that every number that is read is used several times: most
of what the processor can do, where the compiler's own loops reach a third. Rows come in fours, and in twos at the end.
"""

# numba and llvmlite carry few types
# mypy: disable-error-code="no-untyped-call, no-untyped-def, import-untyped, misc"

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_DOUBLE, _INDEX, _PLACE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
# sums may be reordered and contracted, as everywhere in the kernel
_FAST = ("reassoc", "contract", "nsz")
# columns of a tile of products
_COLUMNS = 4


class _Tile:
    """What tiles are written with: vectors of numbers, as long as the processor's registers, and loops over them."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.builder = builder
        # how many numbers a register holds, and how many vectors of lanes, or columns at a time, a tile of four rows
        # has: of 32 long registers two thirds are sums, of 16 shorter ones one half
        self.width, self.across = (8, 4) if "+avx512f" in context.codegen()._tm_features else (4, 2)
        self.vector = ir.VectorType(_DOUBLE, self.width)
        self.nothing = ir.Constant(self.vector, [0.0] * self.width)

    def after(self, index: Any, by: int) -> Any:
        """Return the index so many further on."""
        return self.builder.add(index, ir.Constant(_INDEX, by)) if by else index

    def at(self, array: Any, *index: Any) -> Any:
        """Return the place of a number in a contiguous array."""
        place = index[0]
        for axis, each in enumerate(index[1:], 1):
            place = self.builder.add(self.builder.mul(place, self.builder.extract_value(array.shape, axis)), each)
        return self.builder.gep(array.data, [place])

    def load(self, place: Any) -> Any:
        """Return the vector that lies there."""
        return self.builder.load(self.builder.bitcast(place, self.vector.as_pointer()), align=8)

    def store(self, value: Any, place: Any) -> None:
        """Put a vector there."""
        self.builder.store(value, self.builder.bitcast(place, self.vector.as_pointer()), align=8)

    def everywhere(self, number: Any) -> Any:
        """Return a vector of one number."""
        nowhere = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(nowhere, number, ir.Constant(_PLACE, 0))
        return self.builder.shuffle_vector(first, nowhere, self._order([0] * self.width))

    def plus(self, total: Any, one: Any, other: Any) -> Any:
        """Return total + one other."""
        return self.builder.fadd(total, self.builder.fmul(one, other, flags=_FAST), flags=_FAST)

    def loop(self, stop: Any, step: int, totals: list[Any], body: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
        """Return totals after a loop from 0 to stop, each round of which makes the next ones of them."""
        builder, before = self.builder, self.builder.block
        head, inside, after = (builder.append_basic_block(name) for name in ("head", "inside", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        place, *kept = (builder.phi(kind) for kind in (_INDEX, *(total.type for total in totals)))
        builder.cbranch(builder.icmp_signed("<", place, stop), inside, after)

        builder.position_at_end(inside)
        following = [self.after(place, step), *body(place, kept)]
        for phi, first, later in zip([place, *kept], [ir.Constant(_INDEX, 0), *totals], following, strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return kept

    def summed(self, vectors: list[Any]) -> list[Any]:
        """Return the sum of each vector's numbers: neighbours are added while as many vectors become one."""
        sums = []
        for first in range(0, len(vectors), self.width):
            some = vectors[first : first + self.width]
            count = len(some)
            some, step = some + [self.nothing] * (self.width - count), 1
            while len(some) > 1:
                some = [self._woven(a, b, step) for a, b in zip(some[::2], some[1::2], strict=True)]
                step *= 2
            sums += [self.builder.extract_element(some[0], ir.Constant(_PLACE, i)) for i in range(count)]
        return sums

    def _woven(self, one: Any, other: Any, step: int) -> Any:
        """Return runs of `step` numbers, of one vector and the other in turn, each added to the run after it."""
        runs = [i + own for i in range(0, self.width, 2 * step) for own in (0, self.width)]
        orders = [[run + at for run in runs for at in range(by, by + step)] for by in (0, step)]
        parts = [self.builder.shuffle_vector(one, other, self._order(order)) for order in orders]
        return self.builder.fadd(*parts, flags=_FAST)

    def _order(self, numbers: list[int]) -> Any:
        return ir.Constant(ir.VectorType(_PLACE, self.width), numbers)


def _writing(write: Callable[..., None], *shape: Any) -> Callable[..., Any]:
    """Return the function that numba asks to write a tile of this shape."""

    def build(context, builder, signature, given):
        arguments = [
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, given, strict=True)
        ]
        write(_Tile(context, builder), *shape, *arguments)
        return context.get_dummy_value()

    return build


def _write_squares(tile, rows, root, start, deviation, distance, i, lane):
    """Write distance += (start_r + sum_j root_rj deviation_j)^2 over rows of a lower triangle, in a tile of lanes."""
    build, across = tile.builder, tile.across
    lanes = [tile.after(lane, v * tile.width) for v in range(across)]
    lines = [tile.at(root, tile.after(i, r), ir.Constant(_INDEX, 0)) for r in range(rows)]

    def added(j, totals, first=0):
        held = [tile.load(tile.at(deviation, j, each)) for each in lanes]
        factors = [tile.everywhere(build.load(build.gep(line, [j]))) for line in lines[first:]]
        return [tile.plus(total, factors[at // across], held[at % across]) for at, total in enumerate(totals)]

    begin = [tile.everywhere(build.load(tile.at(start, tile.after(i, r)))) for r in range(rows)]
    totals = tile.loop(i, 1, [each for each in begin for _ in lanes], added)
    for r in range(rows):  # on the diagonal there is one row less with each column
        totals = totals[: r * across] + added(tile.after(i, r), totals[r * across :], r)
    for v, each in enumerate(lanes):
        place = tile.at(distance, each)
        total = tile.load(place)
        for own in totals[v::across]:
            total = tile.plus(total, own, own)
        tile.store(total, place)


def _write_weighted(tile, rows, weight, weighted, deviation, sums, square, i, m):
    """Write weighted_r = weight deviation_r, their sums over lanes, and the lower triangle of the rows' products."""
    pairs = [(r, c) for r in range(rows) for c in range(r + 1)]

    def added(lane, totals):
        load = tile.load(tile.at(weight, lane))
        own = [tile.load(tile.at(deviation, tile.after(i, r), lane)) for r in range(rows)]
        heavy = [tile.builder.fmul(load, each, flags=_FAST) for each in own]
        for c, each in enumerate(heavy):
            tile.store(each, tile.at(weighted, ir.Constant(_INDEX, c), lane))
        later = [tile.builder.fadd(total, each, flags=_FAST) for total, each in zip(totals, heavy, strict=False)]
        return later + [tile.plus(total, own[r], heavy[c]) for total, (r, c) in zip(totals[rows:], pairs, strict=True)]

    totals = tile.summed(tile.loop(m, tile.width, [tile.nothing] * (rows + len(pairs)), added))
    for r in range(rows):
        tile.builder.store(totals[r], tile.at(sums, tile.after(i, r)))
    for (r, c), total in zip(pairs, totals[rows:], strict=True):
        tile.builder.store(total, tile.at(square, tile.after(i, r), tile.after(i, c)))


def _write_products(tile, rows, weighted, deviation, square, i, j, m):
    """Write the sums over lanes of deviation_i+r weighted_c, rows of a square at column j."""
    for begin in range(0, _COLUMNS, tile.across):
        pairs = [(r, c) for r in range(rows) for c in range(begin, begin + tile.across)]

        def added(lane, totals, pairs=pairs, begin=begin):
            own = [tile.load(tile.at(deviation, tile.after(i, r), lane)) for r in range(rows)]
            columns = range(begin, begin + tile.across)
            heavy = {c: tile.load(tile.at(weighted, ir.Constant(_INDEX, c), lane)) for c in columns}
            return [tile.plus(total, own[r], heavy[c]) for total, (r, c) in zip(totals, pairs, strict=True)]

        totals = tile.summed(tile.loop(m, tile.width, [tile.nothing] * len(pairs), added))
        for (r, c), total in zip(pairs, totals, strict=True):
            tile.builder.store(total, tile.at(square, tile.after(i, r), tile.after(j, c)))


def _tiles(rows: int) -> tuple[Any, Any, Any]:
    """Return the three kinds of tiles, of so many rows."""

    @intrinsic
    def squares(_context, root, start, deviation, distance, i, lane):
        given = (root, start, deviation, distance, i, lane)
        return types.none(*given), _writing(_write_squares, rows)

    @intrinsic
    def weigh(_context, weight, weighted, deviation, sums, square, i, m):
        given = (weight, weighted, deviation, sums, square, i, m)
        return types.none(*given), _writing(_write_weighted, rows)

    @intrinsic
    def products(_context, weighted, deviation, square, i, j, m):
        return types.none(weighted, deviation, square, i, j, m), _writing(_write_products, rows)

    return squares, weigh, products


@intrinsic
def _lanes_of_a_tile(_context):
    def build(context, builder, _signature, _given):
        tile = _Tile(context, builder)
        return ir.Constant(_INDEX, tile.width * tile.across)

    return types.int64(), build


four_squares, four_weigh, four_products = _tiles(4)
two_squares, two_weigh, two_products = _tiles(2)
lanes_of_a_tile: Any = _lanes_of_a_tile
# the most that it is on any processor: arrays have room for a multiple of it
MOST_LANES = 32
