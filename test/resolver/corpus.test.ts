import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/kernel/fault.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { injectPlaceholders } from '../../src/resolver/placeholders.ts'
import { Redactor, Sanitiser } from '../../src/resolver/sanitise.ts'
import { parseTarget } from '../../src/resolver/target.ts'
import placeholders from '../corpus/placeholders/headers.json' with { type: 'json' }
import sanitiser from '../corpus/sanitiser/bodies.json' with { type: 'json' }
import targets from '../corpus/targets/urls.json' with { type: 'json' }

const bytes = (text: string) => new Uint8Array(Buffer.from(text))

/** What a function answers, or the code of the fault that it throws. */
function outcomeOf<T>(act: () => T): T | { code: string } {
  try {
    return act()
  } catch (error) {
    if (error instanceof Fault) return { code: error.code }
    throw error
  }
}

describe('targets', () => {
  test.each(targets)('$name', ({ text, code, authority, path }) => {
    const outcome = outcomeOf(() => {
      const target = parseTarget(text)
      return { authority: target.authority, path: target.path }
    })
    expect<unknown>(outcome).toEqual(code === undefined ? { authority, path } : { code })
  })
})

describe('placeholders', () => {
  test.each(placeholders)('$name', ({ headers, secrets, injected, code }) => {
    const values = new Map(Object.entries(secrets).map(([name, v]) => [name, new Secret(bytes(v))]))
    const outcome = outcomeOf(() => injectPlaceholders(Object.entries(headers), values).headers)
    expect<unknown>(outcome).toEqual(injected === undefined ? { code } : Object.entries(injected))
  })
})

describe('bodies', () => {
  test.each(sanitiser)('$name', ({ secrets, body, redacted }) => {
    const values = secrets.map(bytes)
    const text = new Uint8Array(Buffer.from(body, 'latin1'))
    const whole = new Sanitiser(values).redactBody(text)
    expect(Buffer.from(whole).toString('latin1')).toBe(redacted)

    const redactor = new Redactor(values)
    const pieces = [...text].map((byte) => redactor.push(Uint8Array.of(byte)))
    expect(Buffer.concat([...pieces, redactor.flush()]).toString('latin1')).toBe(redacted)
  })
})
