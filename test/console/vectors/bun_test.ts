/** The part of `bun:test` that the vector tests use, for a browser. The tests run there unchanged. */
type Run = (...given: unknown[]) => unknown
export type Outcome = { title: string; failure: string | null }

const collected: { title: string; run: Run }[] = []
let within: string[] = []

export function describe(title: string, define: () => void): void {
  within = [...within, title]
  define()
  within = within.slice(0, -1)
}

export function test(title: string, run: Run): void {
  collected.push({ title: [...within, title].join(' > '), run })
}

test.each =
  (rows: readonly unknown[]) =>
  (title: string, run: Run): void => {
    for (const row of rows) {
      const values: readonly unknown[] = Array.isArray(row) ? row : [row]
      const named = title
        .replace(/\$(\w+)/g, (_, name) => String(Reflect.get(Object(row), name)))
        .replace('%s', String(values[0]))
      test(named, () => run(...values))
    }
  }

export async function runAll(): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { title, run } of collected) {
    const failure = await Promise.resolve()
      .then(() => run())
      .then(
        () => null,
        (error: unknown) => String(error),
      )
    outcomes.push({ title, failure })
  }
  return outcomes
}

type Type = new (...given: never[]) => unknown

export function expect(actual: unknown) {
  return { ...matchers(actual, true), not: matchers(actual, false) }
}

function matchers(actual: unknown, wanted: boolean) {
  const demand = (holds: boolean, what: string) => {
    if (holds !== wanted) throw new Error(`${textOf(actual)} ${wanted ? 'is not' : 'is'} ${what}`)
  }
  return {
    toBe: (other: unknown) => demand(Object.is(actual, other), textOf(other)),
    toEqual: (other: unknown) => demand(isEqual(actual, other), textOf(other)),
    toMatchObject: (other: object) => demand(isEqual(actual, other, true), textOf(other)),
    toBeNull: () => demand(actual === null, 'null'),
    toBeString: () => demand(typeof actual === 'string', 'text'),
    toBeInstanceOf: (type: Type) => demand(actual instanceof type, type.name),
    toHaveLength: (length: number) =>
      demand(Reflect.get(Object(actual), 'length') === length, `${length} long`),
    toThrow: (what?: Thrown) => demand(isThrown(thrownBy(actual), what), `what throws ${what}`),
    rejects: {
      toThrow: async (what?: Thrown) => {
        const error = await Promise.resolve(actual).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        demand(isThrown(error, what), `what rejects with ${what}`)
      },
    },
  }
}

/** Its type, or a part of its message. */
type Thrown = Type | string

function isThrown(error: unknown, what: Thrown = Error): boolean {
  if (typeof what === 'string') return error instanceof Error && error.message.includes(what)
  return error instanceof what
}

function thrownBy(run: unknown): unknown {
  try {
    Reflect.apply(run as () => unknown, null, [])
    return undefined
  } catch (error) {
    return error
  }
}

const keysOf = (value: object) =>
  Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined)

/** `partly` permits the first object to have more names than the second. */
function isEqual(one: unknown, other: unknown, partly = false): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  const [own, wanted] = [keysOf(one), keysOf(other)]
  if (ArrayBuffer.isView(one) !== ArrayBuffer.isView(other)) return false
  if (!partly && own.length !== wanted.length) return false
  return wanted.every((key) => isEqual(Reflect.get(one, key), Reflect.get(other, key), partly))
}

function textOf(value: unknown): string {
  return ArrayBuffer.isView(value) ? String(value) : (JSON.stringify(value) ?? String(value))
}
