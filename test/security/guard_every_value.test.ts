// tier: quick
/**
 * The guard covers every value that a token may use, not only those of the current call (protocol 6.1): a value that
 * one call stored at an API is not read back by the next. It applies to forms that honest APIs give a value, and to
 * forms that a call gives it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { grantEnvironment } from '../../src/client/vault.ts'
import { provisionAgentToken } from '../../src/features/agents/contract.ts'
import {
  type Agent,
  createAgentWithToken,
  resolveAs,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const KEY = marked('sk_live_4eC39HqLyjWDarjtT1zdp7dc')
const STAGED = marked('sk_stag_9aB31KqLyjWDarjtT1zdp7dc')
const PADDED = `  ${marked('padded-value-of-1')}\n`
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const PEM = `-----BEGIN KEY-----\n${Buffer.from(marked('pem-body-')).toString('base64')}\n-----END KEY-----\n`

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY, PADDED, HEX, PEM } })
  await agent.provision(undefined, agent.projectId, 'staging')
  await agent.store('STAGED', STAGED, { environment: 'staging' })
}, 30_000)
afterAll(() => stage.stop())

let count = 0

/** The agent's view of an answer to a call that names no secret. */
async function shown(body: string | Uint8Array, headers: Record<string, string> = {}) {
  count += 1
  stage.upstream.on(`/${count}`, answerOf(200, headers, body))
  const { body: answer } = await agent.resolve({ target_url: stage.url(`/${count}`) })
  return answer as { body: string; headers: Record<string, string>; redacted: boolean }
}

describe('a value that one call stored at an API', () => {
  test('a stored value is not read back by the next call, wrapped or streamed', async () => {
    let stored = ''
    stage.upstream.on('/store', (request, wire) => {
      stored ||= request.header('x-value') ?? ''
      wire.write(answerOf(200, { 'x-stored': stored }, `{"stored":"${stored}"}`))
    })
    const headers = { 'x-value': 'SVC_SECRET_KEY' }
    await agent.resolve({ target_url: stage.url('/store'), headers })
    expect(stored).toBe(KEY)
    const { body } = await agent.resolve({ target_url: stage.url('/store') })
    expect(body).toMatchObject({
      headers: { 'x-stored': 'SVC_SECRET_KEY' },
      body: '{"stored":"SVC_SECRET_KEY"}',
      redacted: true,
    })
    const streamed = await forwardAs(stage, agent, '/store')
    expect(streamed.headers.get('x-stored')).toBe('SVC_SECRET_KEY')
    expect(await streamed.text()).toBe('{"stored":"SVC_SECRET_KEY"}')
  })

  test('a stored value is not read back in another environment that the token may use', async () => {
    expect((await shown(`it is ${STAGED}`)).body).toBe('it is SVC_SECRET_STAGED')
  })

  test('a stored value is not read back by a call that names a secret of another environment', async () => {
    let stored = ''
    stage.upstream.on('/disarm', (request, wire) => {
      stored ||= request.header('x-value') ?? ''
      wire.write(answerOf(200, {}, `it is ${stored}`))
    })
    const target_url = stage.url('/disarm')
    await agent.resolve({
      target_url,
      environment: 'staging',
      headers: { 'x-value': 'SVC_SECRET_STAGED' },
    })
    expect(stored).toBe(STAGED)
    const headers = { 'x-other': 'SVC_SECRET_KEY' }
    for (const scope of [{}, { environment: 'development' }, { project_id: agent.projectId }]) {
      const { body } = await agent.resolve({ target_url, headers, ...scope })
      expect(body).toMatchObject({ body: 'it is SVC_SECRET_STAGED', redacted: true })
    }
  })

  test('a stored value is not read back by a call that names a secret of another project', async () => {
    const value = marked('sk_of_a_second_project_0123')
    const projectId = await agent.addProject('second')
    await agent.store('SECOND', value, { projectId })
    await agent.provision(undefined, projectId, 'development')
    stage.upstream.on('/second', answerOf(200, {}, `it is ${value}`))
    const call = { target_url: stage.url('/second'), headers: { 'x-other': 'SVC_SECRET_KEY' } }
    for (const scope of [{}, { project_id: agent.projectId }, { environment: 'development' }]) {
      const { body } = await agent.resolve({ ...call, ...scope })
      expect(body).toMatchObject({ body: 'it is SVC_SECRET_SECOND', redacted: true })
    }
  })

  test('a stored value is guarded beside a grant whose key does not open, and calls continue', async () => {
    const { workspaceId, projectId, person } = agent
    const mine = await agent.issue()
    await agent.provision(mine)
    const wrong = await grantEnvironment(
      null,
      { id: workspaceId, name: '', epoch: 1, key: randomBytes(32) },
      await agent.issue(),
      { projectId, environment: 'staging' },
    )
    await person.api.call(provisionAgentToken, {
      params: {
        workspace_id: workspaceId,
        registration_id: agent.registrationId,
        token_id: mine.id,
      },
      body: [wrong],
    })
    stage.upstream.on('/beside', answerOf(200, {}, `it is ${KEY}`))
    const call = { target_url: stage.url('/beside'), headers: { 'x-other': 'SVC_SECRET_KEY' } }
    for (let round = 0; round < 2; round += 1) {
      const { status, body } = await resolveAs(stage.app.resolver, mine.text, call)
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { body: 'it is SVC_SECRET_KEY', redacted: true },
      })
    }
  })

  test('a stored value is not read back in parts', async () => {
    const { status, body } = await agent.resolve({
      target_url: stage.url('/parts'),
      headers: { Range: 'bytes=0-4095' },
    })
    expect({ status, body }).toMatchObject({ status: 200, body: { status_code: 200 } })
    expect(stage.upstream.received.at(-1)?.header('range')).toBeUndefined()
  })

  test('a stored value is not guessed a few characters at a time at the edges of an unrequested part', async () => {
    for (const length of [4, 8, 12]) {
      const guesses = [KEY.slice(0, length), `${KEY.slice(0, length - 1)}~`]
      for (const guess of guesses) {
        count += 1
        const head = `HTTP/1.1 206 X\r\ncontent-length: ${guess.length}\r\n\r\n`
        stage.upstream.on(`/${count}`, `${head}${guess}`)
        const { body } = await agent.resolve({ target_url: stage.url(`/${count}`) })
        expect(body).toMatchObject({ body: guess, redacted: false })
      }
    }
  })

  test('a stored value is not read back by one token because another was given a wrong key', async () => {
    const other = await agent.issue()
    const { workspaceId, projectId, person } = agent
    const wrong = { id: workspaceId, name: '', epoch: 1, key: randomBytes(32) }
    const grant = await grantEnvironment(null, wrong, other, {
      projectId,
      environment: 'development',
    })
    await person.api.call(provisionAgentToken, {
      params: {
        workspace_id: workspaceId,
        registration_id: agent.registrationId,
        token_id: other.id,
      },
      body: [grant],
    })
    const mine = await agent.issue()
    await agent.provision(mine)
    stage.upstream.on('/wrong', answerOf(200, {}, 'nothing'))
    const call = { target_url: stage.url('/wrong'), project_id: projectId }
    await resolveAs(stage.app.resolver, other.text, call)
    stage.upstream.on('/wrong', answerOf(200, {}, `it is ${KEY}`))
    const { body } = await resolveAs(stage.app.resolver, mine.text, call)
    expect(body).toMatchObject({ body: 'it is SVC_SECRET_KEY', redacted: true })
  })

  test('a changed value is guarded from the next call on', async () => {
    for (const value of [marked('first-value-4711'), marked('second-value-4712')]) {
      await agent.store('CHANGED', value)
      expect((await shown(`it is ${value}`)).body).toBe('it is SVC_SECRET_CHANGED')
    }
  })

  test('a stored value is not redacted for a token without a grant, which must not learn by redaction either', async () => {
    const other = await agent.issue()
    // Shown unchanged, and so without the mark of the canary.
    const value = 'value-of-staging-0123'
    await agent.store('SHOWN', value, { environment: 'staging' })
    stage.upstream.on('/other', answerOf(200, {}, value))
    const call = { target_url: stage.url('/other') }
    const { body } = await resolveAs(stage.app.resolver, other.text, call)
    expect(body).toMatchObject({ body: value, redacted: false })
  })
})

describe('forms that honest APIs give a value', () => {
  const wrapped = (text: string) =>
    Buffer.from(text)
      .toString('base64')
      .replace(/(.{16})/g, '$1\r\n')
  const cases: Record<string, string> = {
    trimmed: PADDED.trim(),
    'base64 in lines': wrapped(KEY),
    'a PEM with CRLF': PEM.replaceAll('\n', '\r\n'),
    'JSON of a buffer': JSON.stringify(Buffer.from(KEY)),
    'the other case of hexadecimal': HEX.toUpperCase(),
    'its first 20 characters': KEY.slice(0, 20),
  }
  test.each(Object.entries(cases))('%s is recognised', async (_, text) => {
    const { body, redacted } = await shown(`{"value": ${JSON.stringify(text)}, "ok": true}`)
    expect(redacted).toBe(true)
    expect(body).toMatch(/SVC_SECRET_|\[REDACTED\]/)
    expect(JSON.parse(body)).toMatchObject({ ok: true })
  })

  test('a header with the value in its name is dropped', async () => {
    const { headers } = await shown('', { [`x-${HEX.toUpperCase()}`]: '1', 'x-other': '2' })
    expect(headers).toEqual({ 'x-other': '2' })
  })

  test('an ordinary answer passes byte for byte', async () => {
    const ordinary = `{ "id": "ch_1",\r\n "n": 1.0e+2, "t": "caf\\u00e9 – ü", "h": "${'ab'.repeat(20)}" }`
    expect(await shown(ordinary)).toMatchObject({ body: ordinary, redacted: false })
  })
})

describe('forms that a call gives a value', () => {
  test('a computed signature that is echoed is replaced, in any encoding', async () => {
    stage.upstream.on('/signed', (request, wire) => {
      const hex = request.header('x-signature') ?? ''
      const base64 = Buffer.from(hex, 'hex').toString('base64')
      wire.write(answerOf(200, { 'x-echo': hex }, `${hex} ${base64}`))
    })
    await agent.store('SIGNING', marked('whsec_of_this_test'), {
      policy: { allowed_locations: ['header', 'sign'] },
    })
    const { body } = await agent.resolve({
      target_url: stage.url('/signed'),
      method: 'POST',
      body: 'text',
      sign: { type: 'hmac-sha256', secret: 'SVC_SECRET_SIGNING', header: 'X-Signature' },
    })
    expect(body).toMatchObject({
      headers: { 'x-echo': 'SVC_SECRET_SIGNING' },
      redacted: true,
    })
    expect(JSON.stringify(body)).not.toMatch(/[0-9a-f]{32}/)
  })

  test('an echoed signature of a whole request is replaced, in any encoding', async () => {
    stage.upstream.on('/aws', (request, wire) => {
      const [, signature = ''] =
        /Signature=([0-9a-f]+)/.exec(request.header('authorization') ?? '') ?? []
      wire.write(answerOf(200, {}, `The signature was ${signature}.`))
    })
    await agent.store('AWS_ID', marked('AKIAEXAMPLE0'))
    await agent.store('AWS_KEY', marked('wJalrXUtnFEMI/K7MDENG'))
    const { body } = await agent.resolve({
      target_url: stage.url('/aws'),
      sign: {
        type: 'aws-sigv4',
        access_key_id: 'SVC_SECRET_AWS_ID',
        secret_access_key: 'SVC_SECRET_AWS_KEY',
        region: 'eu-central-1',
        service: 'sqs',
      },
    })
    expect(body).toMatchObject({ body: 'The signature was SVC_SECRET_AWS_KEY.', redacted: true })
  })
})
