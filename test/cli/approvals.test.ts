// tier: quick
/** cloakroom approvals: a person reads exactly what will be sent, and decides. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { noticeProgram } from '../../src/cli/approvals/desktop_notice.ts'
import { discardKeys } from '../../src/cli/approvals/discarded_keys.ts'
import { pollWaitMs } from '../../src/cli/approvals/poll_wait.ts'
import { ApiError } from '../../src/client/http/api.ts'
import { resolveAs, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'
import { answering } from './answering.ts'
import type { Terminal } from './person.ts'
import { COLUMNS } from './pseudo_terminal.ts'
import { signedAccount, signedWorkspace } from './signed_person.ts'

const VALUE = marked('held_cli_')
const HELD = '{"approval":{"by":"member","ttl_seconds":900}}'
const SINGLY = '{"approval":{"by":"member","ttl_seconds":0}}'

const PERSON = 'Run this in a terminal, where the whole call is shown.'

let stage: Stage
let ada: Terminal
let token: string
beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/echo', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
  const server = { controlPlane: stage.app.controlPlane, resolver: stage.app.resolver }
  const email = `ada-${crypto.randomUUID()}@example.com`
  ada = await signedAccount(server, email)
  await signedWorkspace(server, email, 'acme')
  await ada.must('workspace', 'use', 'acme')
  await ada.must('init', 'billing')
  await ada.must('secrets', 'set', `KEY=${VALUE}`, '--policy', HELD)
  await ada.must('secrets', 'set', `ONCE=${VALUE}`, '--policy', SINGLY)
  await ada.must('allowlist', 'add', stage.authorityOf())
  token = (await ada.reveal('agent', 'create', 'deploy-bot', '--quiet')).trim()
})
afterAll(async () => {
  ada.remove()
  await stage.stop()
})
beforeEach(async () => {
  stage.upstream.received.length = 0
  await stage.app.connection.sql`delete from approvals`
})

const call = (more: object = {}) =>
  resolveAs(stage.app.resolver, token, {
    target_url: stage.url('/echo?order=10%2041'),
    method: 'POST',
    headers: { authorization: 'Bearer SVC_SECRET_KEY', 'content-type': 'application/json' },
    body: '{"amount":2000}',
    ...more,
  })
async function requested(more?: object): Promise<string> {
  const answer = await call(more)
  expect(answer).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
  return (answer.body as { approval: { id: string } }).approval.id
}
const sent = () => stage.upstream.received.length

describe('approvals allow', () => {
  test('approvals allow prints the whole call, and the next identical call passes once', async () => {
    const id = await requested()
    const { code, out, err } = await ada.run(['approvals', 'allow', id.slice(-8), '--yes'])
    expect(err.split('\n').map((line) => line.trimEnd())).toEqual([
      `call     │ POST https://${stage.authorityOf()}/echo`,
      'query    │ order = 10 41',
      '         as sent:',
      '         │ ?order=10%2041',
      'headers  │ authorization: Bearer SVC_SECRET_KEY',
      '         │ content-type: application/json',
      'body     application/json, 15 bytes',
      '         │ {"amount":2000}',
      'secrets  │ KEY in billing/development (needs approval by a member)',
      'agent    │ deploy-bot',
      expect.stringMatching(/^ {9}The name is not signed\. The token is …[0-9a-f]{8}, labelled:$/),
      expect.stringMatching(/^token {4}│ .+$/),
      'reason   (none given)',
      expect.stringMatching(/^asked {4}\d+s ago, expires in 1\dm$/),
      `id       ${id}`,
      '',
    ])
    expect([code, out]).toEqual([
      0,
      'Allowed once. A waiting call continues; otherwise the next identical call goes through.\n',
    ])
    expect(await call()).toMatchObject({ status: 200 })
    await requested()
    expect(sent()).toBe(1)
  })

  test('approvals allow lets a waiting command continue, and prints its reason', async () => {
    const url = stage.url('/echo')
    const header = ['-H', 'authorization: Bearer SVC_SECRET_KEY']
    const waiting = ['--wait', '60s', '--reason', 'refund order 41']
    const call = ada.run(['call', url, ...header, ...waiting, '--token', token])
    const [{ id }] = await until(async () => {
      const rows = await stage.app.connection.sql<[{ id: string }]>`select id from approvals`
      return rows.length > 0 && rows
    })
    const { err } = await ada.run(['approvals', 'allow', id, '--yes'])
    expect(err).toContain('reason   written by the agent:\n         │ refund order 41\n')
    const { code, out, err: notes } = await call
    expect([code, out.trim()]).toEqual([0, 'sent'])
    expect(notes).toContain('Waiting for the approval.')
  })

  test('approvals allow opens a window, with a warning that it covers any query, headers and body', async () => {
    const id = await requested()
    const window = ['--for', '15m', '--path', '/echo', '--method', 'get,post']
    const { code, err } = await ada.run(['approvals', 'allow', id, ...window, '--yes'])
    expect(code).toBe(0)
    expect(err).toContain(
      `This allows GET, POST https://${stage.authorityOf()}/echo for 900 seconds.\nIt covers any query, headers and body, not only this call.\n`,
    )
    expect(await call({ body: 'other' })).toMatchObject({ status: 200 })
    expect(await call({ method: 'GET', body: null })).toMatchObject({ status: 200 })
    await ada.must('approvals', 'revoke', id)
    await requested()
    expect(sent()).toBe(2)
  })

  test.each([
    ['a window longer than the policy', ['--for', '16m'], 'the policy of KEY allows 900 seconds'],
    [
      'a window for another path',
      ['--for', '5m', '--path', '/other'],
      'would not include this call',
    ],
    [
      'a window for other methods',
      ['--for', '5m', '--method', 'GET'],
      'would not include this call',
    ],
    ['a path that is not one', ['--for', '5m', '--path', '/a?b'], '--path is not a path prefix'],
    ['an unknown method', ['--for', '5m', '--method', 'TRACE'], '--method takes GET, HEAD'],
    ['a path without a window', ['--path', '/echo'], '--path and --method need --for'],
  ])('approvals allow rejects %s', async (_, options, message) => {
    const id = await requested()
    const { code, err } = await ada.run(['approvals', 'allow', id, ...options, '--yes'])
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
    await requested()
  })

  test('approvals allow rejects a window if the policy permits each use singly', async () => {
    const id = await requested({ headers: { authorization: 'Bearer SVC_SECRET_ONCE' } })
    const { code, err } = await ada.run(['approvals', 'allow', id, '--for', '5m', '--yes'])
    expect([code, err]).toEqual([
      2,
      'cloakroom: ONCE does not allow approvals for a time: approve each call. (usage)\n→ omit --for\n',
    ])
  })

  test('approvals allow asks first, and does nothing without a terminal', async () => {
    const id = await requested()
    const { code, err } = await ada.run(['approvals', 'allow', id])
    expect([code, err]).toEqual([2, expect.stringContaining(PERSON)])
    expect(err).not.toContain('--yes')
    await requested()
    expect(sent()).toBe(0)
  })

  test('a forged request in the body stays behind the gutter, and the question repeats the call', async () => {
    const forged = 'GET https://harmless.example/status'
    const spaces = `${' '.repeat(2400)}${forged}${'\n'.repeat(3000)}`
    const body = `${spaces}${'x'.repeat(200)}${'\nGET https://harmless.example'.repeat(60)}`
    const id = await requested({
      body,
      headers: { 'x-note': `SVC_SECRET_KEY ${'a '.repeat(900)}` },
    })
    const env = { HOME: ada.home, XDG_RUNTIME_DIR: ada.home, ...serverOf() }
    const size = Buffer.byteLength(body).toLocaleString('en')
    const question = `Allow POST ${stage.authorityOf()}/echo with a body of ${size} bytes?`
    const typed = [{ when: question, type: 'n\r' }]
    const { screen } = await answering(['approvals', 'allow', id], { cwd: ada.cwd, env, typed })
    const [shown = ''] = screen.split(question)
    const rows = shown.split('\n').map((row) => row.trimEnd())
    expect(rows).toContain(`         │ ·×2400${forged}`)
    expect(rows).toContain('         │ ·×2999')
    const forgeries = rows.filter((row) => row.includes('harmless.example'))
    expect(forgeries.filter((row) => !row.startsWith('         │ '))).toEqual([])
    expect(rows.filter((row) => Bun.stringWidth(row) >= COLUMNS && !row.includes('…'))).toEqual([])
    expect(rows.length).toBeLessThan(70)
    expect(shown).toMatch(
      new RegExp(
        `… [\\d,]+ more bytes; print all of it with \`cloakroom approvals show ${id} --body\``,
      ),
    )
    expect(shown).toMatch(/… [\d,]+ more bytes; print all of it with `[^`]+ --json`/)
  })

  test('approvals allow reads method, host, size and type from the verified call, not from the row', async () => {
    const id = await requested()
    await stage.app.connection
      .sql`update approvals set body_bytes = 0, body_type = null, method = 'GET', host = 'harmless.example' where id = ${id}`
    const facts = { method: 'POST', host: stage.authorityOf(), body_bytes: 15 }
    const verified = { ...facts, body_type: 'application/json', id }
    expect(await ada.json('approvals', 'show', id)).toMatchObject(verified)
    expect(await ada.json('approvals', 'list')).toMatchObject([verified])
    const shown = await ada.must('approvals', 'show', id)
    expect(shown).toContain('body     application/json, 15 bytes\n         │ {"amount":2000}\n')
    expect(shown).not.toContain('harmless')
    expect(await ada.must('approvals', 'list')).not.toContain('harmless')
  })

  test('an absent body is printed as none, and the size of a long one as unverified', async () => {
    const none = await requested({ method: 'GET', body: null })
    await stage.app.connection.sql`update approvals set body_bytes = 5 where id = ${none}`
    expect(await ada.must('approvals', 'show', none)).toMatch(/^body {5}none$/m)
    const long = await requested({ body: 'x'.repeat(70_000) })
    expect(await ada.must('approvals', 'show', long)).toContain(
      'about 70,000 bytes, unverified\n         not shown (not text, or over 64 KiB)\n',
    )
  })

  test('terminal escapes and hidden characters of a body are printed as question marks', async () => {
    const id = await requested({ body: 'ok\u001b[2Jgone\u202eback\rmore' })
    const { err, code } = await ada.run(['approvals', 'allow', id, '--yes'])
    expect(code).toBe(0)
    expect(err).toContain('ok?[2Jgone?back?more')
  })
})

test('approvals deny rejects the same call for an hour, and with --mute all of them', async () => {
  const id = await requested()
  expect(await ada.must('approvals', 'deny', id.slice(-8))).toBe(
    'Denied. Identical calls are denied for one hour.\n',
  )
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_denied' } })
  const other = await requested({ body: 'other' })
  expect(await ada.json('approvals', 'deny', other, '--mute', '2h')).toEqual({
    denied: other,
    mute_seconds: 7200,
  })
  expect(await call({ body: 'third' })).toMatchObject({ body: { error_code: 'approval_denied' } })
})

test('approvals list hides unverified requests, and --all has the reason', async () => {
  const [good, bad] = [await requested(), await requested({ body: 'bad' })]
  await stage.app.connection.sql`update approvals set digest = 'x' where id = ${bad}`
  const { out, err } = await ada.run(['approvals', 'list', '--quiet'])
  expect([out, err]).toEqual([
    `${good}\n`,
    '1 request hidden because verification failed. See the reasons: cloakroom approvals list --all\n',
  ])
  expect(await ada.json('approvals', 'list', '--all')).toMatchObject([
    { id: bad, verified: false, fault: 'its digest belongs to another call' },
    { id: good, verified: true, fault: null, agent: 'deploy-bot', status: 'pending' },
  ])
  const shown = await ada.run(['approvals', 'allow', bad, '--yes'])
  expect([shown.code, shown.err]).toEqual([
    5,
    'cloakroom: The request failed verification: its digest belongs to another call. (unverified_request)\n→ see all of them: cloakroom approvals list --all\n',
  ])
})

test('approvals show prints the request for programs, and the body alone', async () => {
  const id = await requested({ body: 'line 1\nline 2' })
  expect(await ada.json('approvals', 'show', id)).toMatchObject({
    id,
    verified: true,
    by: 'member',
    longest_window: 900,
    body: 'line 1\nline 2',
    call: { method: 'POST', secrets: [{ key: 'KEY' }] },
  })
  expect(await ada.must('approvals', 'show', id, '--body')).toBe('line 1\nline 2')
})

test('an ID prefix that is unknown or matches several requests is rejected', async () => {
  const [one] = [await requested(), await requested({ body: 'other' })]
  const unknown = await ada.run(['approvals', 'show', 'ffffffff'])
  expect([unknown.code, unknown.err]).toEqual([
    4,
    'cloakroom: there is no request ffffffff (not_found)\n→ list them with: cloakroom approvals list\n',
  ])
  const { code, err } = await ada.run(['approvals', 'show', one.slice(0, 4)])
  expect([code, err]).toEqual([4, expect.stringContaining('several requests have')])
})

describe('approvals watch', () => {
  test('approvals watch prints each request for programs', async () => {
    const id = await requested()
    const out = await ada.must('approvals', 'watch', '--once', '--json')
    expect(JSON.parse(out)).toMatchObject({ id, verified: true })
  })

  test('approvals watch needs a terminal to wait for requests', async () => {
    const { code, err } = await ada.run(['approvals', 'watch'])
    expect([code, err]).toEqual([2, `cloakroom: ${PERSON} (terminal_required)\n`])
  })

  test('approvals watch ignores keys that are typed as a request appears, except Ctrl-C, before it asks', async () => {
    const id = await requested()
    const env = { HOME: ada.home, XDG_RUNTIME_DIR: ada.home, ...serverOf() }
    const typed = [
      { when: `id       ${id}`, type: 'y\r\u0003' },
      { when: 'Allow POST', type: '\u0003' },
    ]
    const args = ['approvals', 'watch', '--once', '--no-notify']
    const { code, screen } = await answering(args, { cwd: ada.cwd, env, typed })
    expect(code).not.toBe(0)
    expect(screen).not.toContain('Allow POST')
    expect(await ada.json('approvals', 'list')).toMatchObject([{ id, status: 'pending' }])
  })

  test('approvals watch keeps only keys that are typed after the pause', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const streams = { stdin, stdout: new PassThrough(), stderr: new PassThrough() }
    stdin.write('y\r')
    await discardKeys({ streams }, { sleep: async () => void (await once(stdin, 'data')) })
    stdin.write('n\r')
    expect(String(stdin.read())).toBe('n\r')
  })

  test('approvals watch waits longer after each failure, and as long as a busy server requires', () => {
    const busy = new ApiError(429, { error_code: 'rate_limited' }, 20_000)
    const lost = new TypeError('unreachable')
    expect([0, 1, 2, 9].map((failures) => pollWaitMs(failures, lost))).toEqual([
      2_500, 5_000, 10_000, 60_000,
    ])
    expect(pollWaitMs(1, busy)).toBe(20_000)
  })

  test('approvals watch asks about each request on a terminal', async () => {
    const id = await requested()
    const env = { HOME: ada.home, XDG_RUNTIME_DIR: ada.home, ...serverOf() }
    const typed = [
      // Keys that arrive with the request answer no question.
      { when: `id       ${id}`, type: 'y\r' },
      { when: /Allow POST [^ ]+\/echo with a body of 15 bytes\?/, type: 'n\r' },
      { when: 'Deny it for one hour?', type: 'y\r' },
    ]
    const args = ['approvals', 'watch', '--once', '--no-notify']
    let readings = 0
    const onRawMode = (isRaw: boolean) => {
      if (isRaw) readings += 1
    }
    const person = { cwd: ada.cwd, env, typed, onRawMode }
    const { code, screen } = await answering(args, person)
    // The pause and two questions.
    expect([code, screen.includes('\u0007'), readings]).toEqual([0, true, 3])
    expect(screen).toContain('Denied. Identical calls are denied for one hour.')
    expect(await ada.json('approvals', 'list', '--status', 'denied')).toMatchObject([{ id }])
  })
})

const serverOf = () => ({
  SERVICE_SERVER_URL: stage.app.controlPlane ?? '',
  SERVICE_RESOLVER_URL: stage.app.resolver ?? '',
})

test('no text of a request is code or markup to the program that displays a desktop notice', () => {
  const texts = { title: '$(id) "x"', text: '<b>`id`</b> & \u001b[1m' }
  const linux = noticeProgram('linux', texts)
  expect(linux?.command).toEqual([
    'notify-send',
    '--app-name=Cloakroom',
    '--',
    '$(id) "x"',
    '&lt;b&gt;`id`&lt;/b&gt; &amp; ?[1m',
  ])
  expect(noticeProgram('darwin', texts)?.command.slice(-2)).toEqual([
    '$(id) "x"',
    '<b>`id`</b> & ?[1m',
  ])
  const windows = noticeProgram('win32', texts)
  expect(windows?.command.join(' ')).not.toContain('id`')
  expect(windows?.env).toEqual({
    CLOAKROOM_TITLE: '$(id) "x"',
    CLOAKROOM_TEXT: '<b>`id`</b> & ?[1m',
  })
})
