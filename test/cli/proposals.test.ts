// tier: quick
/** cloakroom proposals: agents propose changes, and people make them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolveAs, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'
import type { Terminal } from './person.ts'
import { signedAccount, signedWorkspace } from './signed_person.ts'

const VALUE = marked('proposed_')

let stage: Stage
let ada: Terminal
let token: string
beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/echo', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
  const email = `ada-${crypto.randomUUID()}@example.com`
  ada = await signedAccount(stage.app, email)
  await signedWorkspace(stage.app, email, 'acme')
  await ada.must('workspace', 'use', 'acme')
  await ada.must('init', 'billing')
  await ada.must('secrets', 'set', `KEY=${VALUE}`)
  token = (await ada.reveal('agent', 'create', 'deploy-bot', '--quiet')).trim()
})
afterAll(async () => {
  ada.remove()
  await stage.stop()
})

const asAgent = (...args: string[]) => ada.run(args, { env: { SERVICE_TOKEN: token } })

test('an agent proposes, and a member accepts: the host is allowed, and the secret may be sent there only', async () => {
  const refused = await asAgent('call', stage.url('/echo'))
  expect(refused.err).toContain('An agent can request it: cloakroom proposals create --help')
  const host = stage.authorityOf()
  const reason = ['--reason', 'The deploy script posts \u202e to it'.replace('\u202e ', '')]
  const asked = await asAgent('proposals', 'create', ...reason, '--host', host, '--secret', 'NEW')
  expect([asked.code, asked.out]).toEqual([
    0,
    'Proposed. Members can list it with: cloakroom proposals list\n',
  ])
  const [listed] = (await ada.json('proposals', 'list')) as { id: string }[]
  const id = listed?.id ?? ''
  expect(await ada.must('proposals', 'show', id.slice(-8))).toContain(
    'reason   "The deploy script posts to it" (written by the agent)\n',
  )
  const accepted = await ada.run(['proposals', 'accept', id, '--values-stdin', '--yes'], {
    stdin: `${VALUE}\n`,
  })
  expect(accepted).toMatchObject({
    code: 0,
    out: `Accepted: allow ${host}; store NEW in development\n`,
  })
  expect(await ada.json('proposals', 'list', '--status', 'accepted')).toMatchObject([{ id }])
  const call = {
    target_url: stage.url('/echo'),
    headers: { authorization: 'Bearer SVC_SECRET_NEW' },
  }
  expect(await resolveAs(stage.app.resolver, token, call)).toMatchObject({ status: 200 })
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
  expect(await ada.json('policy', 'show', 'NEW')).toMatchObject({
    policy: { allowed_domains: [host] },
  })
})

test('a rejected proposal stays rejected for the agent', async () => {
  const ask = () => asAgent('proposals', 'create', '--reason', 'why', '--host', 'a.example.com')
  const { out } = await ada.run(
    ['proposals', 'create', '--reason', 'why', '--host', 'a.example.com', '--quiet'],
    { env: { SERVICE_TOKEN: token } },
  )
  await ada.must('proposals', 'reject', out.trim())
  expect((await ask()).out).toBe('This was proposed before. Status: rejected.\n')
  expect(await ada.json('allowlist', 'list')).not.toContainEqual(
    expect.objectContaining({ domain: 'a.example.com' }),
  )
})

test('accepting asks first, and stores nothing when a value is missing', async () => {
  const secret = ['--host', 'b.example.com', '--secret', 'LATER']
  const { out } = await ada.run(['proposals', 'create', '--reason', 'why', ...secret, '-q'], {
    env: { SERVICE_TOKEN: token },
  })
  const id = out.trim()
  const unasked = await ada.run(['proposals', 'accept', id])
  expect([unasked.code, unasked.err]).toEqual([
    2,
    expect.stringContaining('the question needs a terminal'),
  ])
  const empty = await ada.run(['proposals', 'accept', id, '--values-stdin', '--yes'], {
    stdin: '\n',
  })
  expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('value of LATER is empty')])
  expect(await ada.json('proposals', 'show', id)).toMatchObject({ status: 'open' })
  expect(JSON.stringify(await ada.json('allowlist', 'list'))).not.toContain('b.example.com')
})
