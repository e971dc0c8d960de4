// tier: quick
/** Two hundred concurrent calls of different workspaces: no caller ever sends or receives another's data. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  type Agent,
  createAgentWithToken,
  recordOf,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'

const AGENTS = 10
const CALLS = 200
const hosts = ['one.upstream.example', 'two.upstream.example', 'three.upstream.example']

let stage: Stage
const agents: Agent[] = []
const values: string[] = []

beforeAll(async () => {
  stage = await sharedStage({ names: hosts })
  for (let number = 0; number < AGENTS; number += 1) {
    const value = marked(`value-of-agent-${number}-${'x'.repeat(number * 7)}`)
    values.push(value)
    // The same name everywhere: only tenant and token distinguish them.
    const domains = hosts.map((host) => stage.authorityOf(host))
    agents.push(await createAgentWithToken(stage, { secrets: { KEY: value }, domains }))
  }
}, 30_000)
afterAll(() => stage.stop())

test('values are never mixed between tokens, workspaces, hosts and connections', async () => {
  // The upstream returns the caller that it recognised, and echoes its input.
  stage.upstream.on('/who', (request, wire) => {
    const given = request.header('x-key') ?? ''
    const basic = Buffer.from((request.header('authorization') ?? '').slice(6), 'base64').toString()
    const number = values.indexOf(given)
    const consistent = basic === `me:${given}` && request.header('x-number') === String(number)
    const body = JSON.stringify({ number, consistent, echo: given })
    setTimeout(() => wire.write(answerOf(200, { 'x-echo': given }, body)), number % 5)
  })
  const answers = await Promise.all(
    Array.from({ length: CALLS }, async (_, call) => {
      const number = call % AGENTS
      const answer = await agents[number]?.resolve({
        target_url: stage.url('/who', hosts[call % hosts.length]),
        headers: {
          'X-Key': 'SVC_SECRET_KEY',
          'X-Number': String(number),
          Authorization: `Basic ${btoa('me:SVC_SECRET_KEY')}`,
        },
      })
      return { number, answer }
    }),
  )
  for (const { number, answer } of answers) {
    expect({ status: answer?.status, body: answer?.body }).toEqual({
      status: 200,
      body: {
        status_code: 200,
        headers: { 'x-echo': 'SVC_SECRET_KEY' },
        body: JSON.stringify({ number, consistent: true, echo: 'SVC_SECRET_KEY' }),
        redacted: true,
      },
    })
  }
  for (const { number, answer } of answers.slice(0, 20)) {
    const record = answer && (await recordOf(stage.app, answer))
    expect(record).toMatchObject({
      workspace_id: agents[number]?.workspaceId,
      token_id: agents[number]?.tokenId,
    })
  }
}, 30_000)

test('two tokens of one agent open only what each was granted', async () => {
  const agent = await createAgentWithToken(stage, { domains: [stage.authorityOf()] })
  const other = await agent.addProject('other')
  const [here, there] = [marked('value-of-here'), marked('value-of-there')]
  const seen = new Map([
    [here, 'here'],
    [there, 'there'],
  ])
  await agent.store('HERE', here)
  await agent.store('THERE', there, { projectId: other })
  const second = await agent.issue()
  await agent.provision(second, other)
  stage.upstream.on('/given', (request, wire) => {
    wire.write(answerOf(200, {}, seen.get(request.header('x-key') ?? '') ?? '?'))
  })
  const ask = async (token: string, name: string) => {
    const response = await fetch(`${stage.app.resolver}/v1/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        target_url: stage.url('/given'),
        headers: { 'X-Key': `SVC_SECRET_${name}` },
      }),
    })
    const { body, error_code } = (await response.json()) as { body?: string; error_code?: string }
    return body ?? error_code
  }
  const rounds = await Promise.all(
    Array.from({ length: 40 }, () =>
      Promise.all([
        ask(agent.token, 'HERE'),
        ask(agent.token, 'THERE'),
        ask(second.text, 'HERE'),
        ask(second.text, 'THERE'),
      ]),
    ),
  )
  expect(new Set(rounds.map((round) => round.join(' ')))).toEqual(
    new Set(['here key_not_provisioned key_not_provisioned there']),
  )
})
