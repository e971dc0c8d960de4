/** The starting points of the parsers' fuzzers: the texts saved in this directory, with small changes. */
import fc from 'fast-check'

const PIECES = ['"', '\\', '{', '}', '[', ']', ':', ',', '0', 'z', '_']

/** A saved text with a few pieces replaced, inserted or removed; `pieces` are significant for its parser. */
export function mutated(
  saved: readonly string[],
  pieces: readonly string[] = PIECES,
): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(120),
    length: fc.nat(4),
    by: fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom(...pieces)),
  })
  return fc
    .tuple(fc.constantFrom(...saved), fc.array(change, { maxLength: 4 }))
    .map(([text, changes]) =>
      changes.reduce(
        (changed, { at, length, by }) => changed.slice(0, at) + by + changed.slice(at + length),
        text,
      ),
    )
}
