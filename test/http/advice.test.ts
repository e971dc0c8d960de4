// tier: quick
/** Errors have advice beside their code: a link to the documentation and the command that fixes the cause. */
import { describe, expect, test } from 'bun:test'
import { ApiError, openApi } from '../../src/client/http/api.ts'
import { commandFix, Fault, type FaultCode, faultCodes, statusOf } from '../../src/core/fault.ts'
import { getHealth } from '../../src/features/health/contract.ts'
import { faultDocs } from '../../src/http/advice.ts'
import { presentForwardFault } from '../../src/http/forward_refusal.ts'
import { failure } from '../../src/http/openapi/components.ts'
import { presentFault } from '../../src/http/reply.ts'
import { anchorsOf, textOf } from '../docs/documents.ts'

const fix = { setting: 'REGISTRATION' }
const shapes = {
  'control-plane': (fault: Fault) => presentFault(fault, 'control-plane', 'id'),
  resolver: (fault: Fault) => presentFault(fault, 'resolver', 'id'),
  forward: (fault: Fault) => presentForwardFault(fault, 'id', 'json'),
} as const

describe.each(faultCodes)('%s', (code) => {
  const isUnauthenticated = statusOf(code) === 401

  test('each code has an anchor below docs/ whose section explains it', () => {
    const [page = '', anchor = ''] = faultDocs[code].split('#')
    const text = textOf(`docs/${page}`)
    expect(anchorsOf(text)).toContain(anchor)
    const section = text.split(/^## /m).find((part) => anchorsOf(`## ${part}`)[0] === anchor)
    expect(section).toContain(`| \`${code}\` |`)
  })

  test.each(Object.keys(shapes) as (keyof typeof shapes)[])(
    'a code carries docs and fix in the shape of %s, unless it is a 401',
    async (shape) => {
      const body = await shapes[shape](new Fault(code, { fix })).json()
      const { docs = undefined, fix: given = undefined } = body as Record<string, unknown>
      expect([docs, given]).toEqual(
        isUnauthenticated ? [undefined, undefined] : [faultDocs[code], fix],
      )
      expect(failure(code, shape).docs).toBe(docs as string)
    },
  )
})

test('an error in XML names the fix in its message, once', async () => {
  const messageOf = async (given: ConstructorParameters<typeof Fault>[1]) => {
    const answer = presentForwardFault(new Fault('domain_blocked', given), 'id', 'xml')
    return /<Message>(.*)<\/Message>/.exec(await answer.text())?.[1]
  }
  const command = { command: ['cloakroom', 'allowlist', 'add', 'api.example.com'] }
  const run = 'Run `cloakroom allowlist add api.example.com`.'
  expect(await messageOf({ message: 'Not allowed.', fix: command })).toBe(`Not allowed. ${run}`)
  expect(await messageOf({ message: run, fix: command })).toBe(run)
  expect(await messageOf({ message: 'Too late.', fix: { setting: 'RESOLVER_SILENCE_MS' } })).toBe(
    'Too late. Server setting: RESOLVER_SILENCE_MS.',
  )
  expect(await messageOf({ message: 'No.' })).toBe('No.')
})

test('a client reads the anchor and the fix of every code', async () => {
  let code = faultCodes[0] as FaultCode
  using server = Bun.serve({
    port: 0,
    fetch: () => presentFault(new Fault(code, { fix }), 'resolver', 'id'),
  })
  const api = openApi(server.url.origin, () => 'token')
  for (code of faultCodes.filter((code) => statusOf(code) !== 401)) {
    const error = await api.call(getHealth, {}).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ApiError)
    const { code: received, docs, fix: given } = error as ApiError
    expect([received, docs, given]).toEqual([code, faultDocs[code], fix])
  }
})

test('a command is suggested only if each of its arguments has a safe format', () => {
  expect(commandFix('allowlist', 'add', 'api.example.com:8443')).toEqual({
    command: ['cloakroom', 'allowlist', 'add', 'api.example.com:8443'],
  })
  for (const hidden of [
    'a b',
    '',
    '--server=https://evil.example',
    '-resolver',
    '\u202etxt',
    '$(x)',
  ])
    expect(commandFix('allowlist', 'add', hidden)).toBeUndefined()
})
