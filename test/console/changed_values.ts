/** Values near an example, most of which no schema of its kind accepts. */

const WRONG: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  1.5,
  2 ** 53,
  Number.NaN,
  '',
  ' ',
  'x\u202e',
  '..',
  'a'.repeat(70_000),
  [],
  Array(1_001).fill('a'),
  {},
  { unknown: 1 },
  new Date(0),
]

/** The value, wrong values, and the value with each of its parts removed, replaced or changed a little. */
export function* changesOf(value: unknown): Generator<unknown> {
  yield value
  yield* WRONG
  if (typeof value === 'string') yield* [`${value}${value}`, value.slice(1), value.toUpperCase()]
  if (typeof value === 'number') yield* [-value, value + 0.5, value * 1e9, `${value}`]
  if (Array.isArray(value)) yield* changesOfList(value)
  else if (typeof value === 'object' && value !== null) yield* changesOfObject(value)
}

function* changesOfList(list: readonly unknown[]): Generator<unknown> {
  yield [...list, ...list]
  for (const [index, entry] of list.slice(0, 3).entries())
    for (const changed of changesOf(entry)) yield list.with(index, changed)
}

function* changesOfObject(value: object): Generator<unknown> {
  yield { ...value, unknown_field: 1 }
  yield JSON.parse(`{"__proto__":{},${JSON.stringify(value).slice(1)}`.replace(',}', '}'))
  for (const [name, inner] of Object.entries(value)) {
    const { [name as never]: _, ...rest } = value
    yield rest
    for (const changed of changesOf(inner)) yield { ...value, [name]: changed }
  }
}
