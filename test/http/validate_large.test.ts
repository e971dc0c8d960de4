// tier: quick
/** Large bodies get the same verdict as from zod, but validation stops early and pauses for other work. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { fieldFaults } from '../../src/core/validation/complaints.ts'
import { map } from '../../src/core/validation/validate.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { exampleOf } from '../../src/http/openapi/example.ts'
import { jsonSchemaOf } from '../../src/http/openapi/json_schema.ts'
import { validateLarge } from '../../src/http/validation/validate_large.ts'

const withBody = listAllEndpoints().flatMap(({ endpoints }) =>
  endpoints.flatMap(({ name, body }) => (body ? [[name, body] as const] : [])),
)

type Path = readonly (string | number)[]

/** Every place in a document, including the whole. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, it]) => placesIn(it, [...path, key]))]
}

/** The document with another value at the path; `undefined` removes the place. */
function changed(document: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  const copy = structuredClone(document) as Record<string | number, unknown>
  copy[step] = changed(copy[step], rest, value)
  if (copy[step] === undefined) delete copy[step]
  return copy
}

/** Changes a place, unless an earlier change has removed it. */
function change(document: unknown, [path, value]: [Path, unknown]): unknown {
  const exists = placesIn(document).some((known) => known.join() === path.join())
  return exists ? changed(document, path, value) : document
}

const JUNK = [undefined, null, 1, '', 'x', [], {}, [1, 1], { more: 1 }, true]

function complaints(issues: Parameters<typeof fieldFaults>[0]): string[] {
  return fieldFaults(issues)
    .map(({ path, message }) => `${path}: ${message}`)
    .sort()
}

describe.each(withBody)('%s', (_, body) => {
  const example = exampleOf(jsonSchemaOf(body, 'input'))

  test('large bodies get the verdict and the output of zod', async () => {
    const places = placesIn(example)
    for (const path of places) for (const it of JUNK) await expectSame(changed(example, path, it))
    const changes = fc.array(fc.tuple(fc.constantFrom(...places), fc.constantFrom(...JUNK)))
    await fc.assert(
      fc.asyncProperty(changes, (list) => expectSame(list.reduce(change, example))),
      { numRuns: 50 },
    )
  })

  async function expectSame(value: unknown) {
    const whole = body.safeParse(value, { reportInput: true })
    const large = await validateLarge(body, value)
    expect({ value, accepted: large.issues.length === 0 }).toEqual({
      value,
      accepted: whole.success,
    })
    if (whole.success) expect(large.data).toEqual(whole.data)
    else if (body instanceof z.ZodObject) {
      expect(complaints(large.issues)).toEqual(complaints(whole.error.issues))
    }
  }
})

describe('the limits of validation', () => {
  test('validation stops after 100 faults', async () => {
    let looks = 0
    const entry = z.string().refine(() => {
      looks += 1
      return false
    }, 'is bad')
    const many = Array.from({ length: 10_000 }, () => 'x')
    const { issues } = await validateLarge(z.object({ list: z.array(entry) }), { list: many })
    expect(issues.length).toBe(100)
    expect(looks).toBe(100)
    const named = Object.fromEntries(many.map((text, index) => [`k${index}`, text]))
    const other = await validateLarge(map({ max: 20_000 }, z.string(), entry), named)
    expect(other.issues.length).toBe(100)
    expect(looks).toBe(200)
  })

  test('validation of a large list lets other work run in between', async () => {
    const entry = z.object({ text: z.string().regex(/^x+$/), more: z.array(z.number()).max(3) })
    const list = Array.from({ length: 100_000 }, () => ({ text: 'xxxx', more: [1, 2] }))
    let others = 0
    const timer = setInterval(() => {
      others += 1
    }, 1)
    const { issues, data } = await validateLarge(z.array(entry), list)
    clearInterval(timer)
    expect(issues).toEqual([])
    expect(data).toEqual(list)
    expect(others).toBeGreaterThan(5)
  })
})
