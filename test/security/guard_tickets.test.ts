// tier: quick
/**
 * Case 93: a token that an API returns for a secret's signature is guarded like the secret, in the answer that
 * returns it and in later ones.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { ticketsFor } from '../../src/outbound/signing/token_answer.ts'
import {
  type Agent,
  createAgentWithToken,
  type IssuedToken,
  resolveAs,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'
import { answerOf } from '../support/upstream.ts'

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const ROBOT = { type: 'service_account', client_email: 'robot@project.iam.gserviceaccount.com' }

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: {} })
}, 30_000)
afterAll(() => stage.stop())

describe('the token behind a ticket', () => {
  const TOKEN = 'ya29.c0ASRK0GbRandomTextOfAnAccessTokenThatGoogleHandsOut0123456789'
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  function assertionTo(aud: string) {
    const assertion = `${encode({ alg: 'RS256' })}.${encode({ iss: 'x', aud })}.SVC_SECRET_ROBOT`
    const grant = encodeURIComponent('urn:ietf:params:oauth:grant-type:jwt-bearer')
    return {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=${grant}&assertion=${assertion}`,
    }
  }

  /** Obtains a token with the account, by an assertion that Cloakroom signs. */
  async function ticketFor(token: string): Promise<string> {
    stage.upstream.on(
      '/token',
      answerOf(
        200,
        { 'content-type': 'application/json' },
        JSON.stringify({ access_token: token }),
      ),
    )
    const aud = stage.url('/token')
    const { body } = await agent.resolve({ target_url: aud, ...assertionTo(aud) })
    return JSON.parse((body as { body: string }).body).access_token
  }
  const use = (ticket: string) =>
    agent.resolve({
      target_url: stage.url('/store'),
      headers: { authorization: `Bearer ${ticket}` },
    })
  let second: IssuedToken
  beforeAll(async () => {
    await agent.store('ROBOT', JSON.stringify({ ...ROBOT, private_key: PEM }))
    second = await agent.issue()
    await agent.provision(second)
  })

  // The ticket's own call prepares a guard: nothing else of the workspace changes before the token is read back.
  test.each([
    ['whole', TOKEN],
    ['in base64', Buffer.from(TOKEN).toString('base64')],
    ['in halves', `${TOKEN.slice(0, 30)} ${TOKEN.slice(-30)}`],
  ])(
    'the token behind a ticket is redacted in a later call that does not use it, %s',
    async (_, stored) => {
      const ticket = await ticketFor(TOKEN)
      expect(ticket).toStartWith('SVC_SECRET_ROBOT-ticket-')
      expect((await use(ticket)).status).toBe(200)
      expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${TOKEN}`)
      stage.upstream.on('/stored', answerOf(200, {}, `stored: ${stored}`))
      for (const token of [agent.token, second.text]) {
        const asked = { target_url: stage.url('/stored') }
        const { body } = await resolveAs(stage.app.resolver, token, asked)
        expect(body).toMatchObject({ status_code: 200, redacted: true })
        const text = (body as { body: string }).body
        expect([text.includes(TOKEN.slice(0, 16)), text.includes(stored)]).toEqual([false, false])
      }
    },
  )

  test('the token behind a ticket is redacted after the workspace changed, and not in answers to tokens that may not use the secret', async () => {
    await use(await ticketFor(TOKEN))
    await agent.store('ANOTHER', 'another-value-0123')
    stage.upstream.on('/stored', answerOf(200, {}, TOKEN))
    const stored = { target_url: stage.url('/stored') }
    expect((await agent.resolve(stored)).body).toMatchObject({ redacted: true })
    const stranger = await createAgentWithToken(stage, { secrets: { OWN: 'a-value-of-their-own' } })
    expect((await stranger.resolve(stored)).body).toMatchObject({ body: TOKEN, redacted: false })
  })

  test('a ticket is rejected unless its token can be guarded: 32 of one secret in an hour', async () => {
    const robot = JSON.stringify({ ...ROBOT, project_id: 'another', private_key: PEM })
    await agent.store('ROBOT', robot)
    const tickets = Array.from({ length: 33 }, (_, at) => ticketFrom(robot, `${TOKEN}${at}`))
    const statuses: number[] = []
    for (const ticket of await Promise.all(tickets)) statuses.push((await use(ticket)).status)
    expect(statuses).toEqual([...new Array(32).fill(200), 429])
    const arrived = stage.upstream.received.length
    const refused = await use((await tickets[32]) ?? '')
    expect(refused.body).toMatchObject({ error_code: 'rate_limited' })
    expect(refused.headers.get('retry-after')).toMatch(/^3[56]\d\d$/)
    expect(stage.upstream.received.length).toBe(arrived)
    expect((await use((await tickets[0]) ?? '')).status).toBe(200)
  })

  test('the token behind a ticket is replaced everywhere else in the answer that returns it', async () => {
    const jwt = `${encode({ alg: 'RS256' })}.${encode({ sub: 'robot' })}.${'Sig0nature_'.repeat(8)}`
    const copies = {
      copy: TOKEN,
      in64: Buffer.from(TOKEN).toString('base64'),
      header: `a ${TOKEN}`,
    }
    const answer = {
      access_token: TOKEN,
      id_token: jwt,
      ...copies,
      echo: { jwt },
      expires_in: 3599,
    }
    stage.upstream.on(
      '/token',
      answerOf(
        200,
        { 'content-type': 'application/json', 'x-token': TOKEN, [`x-${TOKEN}`]: '1' },
        JSON.stringify(answer),
      ),
    )
    const sent = assertionTo(stage.url('/token'))
    const wrapped = (await agent.resolve({ target_url: stage.url('/token'), ...sent })).body as {
      body: string
      headers: Record<string, string>
    }
    const streamed = await forwardAs(stage, agent, '/token', sent)
    const answers = [
      { body: wrapped.body, headers: wrapped.headers },
      { body: await streamed.text(), headers: Object.fromEntries(streamed.headers) },
    ]
    for (const { body, headers } of answers) {
      const { access_token, id_token, ...rest } = JSON.parse(body)
      expect(access_token).toStartWith('SVC_SECRET_ROBOT-ticket-')
      const claims = jwt.slice(0, jwt.lastIndexOf('.') + 1)
      expect(id_token).toStartWith(`${claims}SVC_SECRET_ROBOT-ticket-`)
      expect(rest).toEqual({
        copy: 'SVC_SECRET_ROBOT',
        in64: 'SVC_SECRET_ROBOT',
        header: 'a SVC_SECRET_ROBOT',
        echo: { jwt: `${claims}SVC_SECRET_ROBOT` },
        expires_in: 3599,
      })
      expect(headers['x-token']).toBe('SVC_SECRET_ROBOT')
      expect(JSON.stringify(headers)).not.toContain(TOKEN.slice(0, 16))
    }
  })

  async function ticketFrom(robot: string, token: string): Promise<string> {
    const answer = await ticketsFor(
      'ROBOT',
      Buffer.from(robot),
    )(Response.json({ access_token: token }))
    return ((await answer.json()) as { access_token: string }).access_token
  }
})
