// tier: all
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { executable } from '../binary/executable.ts'
import { API, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { detailsOf } from './details.ts'
import { openAccount, type Terminal } from './person.ts'

const VALUE = marked('sk_live_7f3a9c_not_real')

let stage: Stage
let ada: Terminal
let token: string

beforeAll(async () => {
  stage = await openStage()
  ada = await openAccount(stage.app, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, 'MODE=live')
  await ada.must('allowlist', 'add', stage.authorityOf())
  token = await issue('agent', 'create', 'bot')
})
afterAll(async () => {
  ada.remove()
  await stage.stop()
})

async function issue(...args: string[]): Promise<string> {
  return ((await ada.json(...args)) as { token: string }).token
}

const as = (SERVICE_TOKEN: string) => ({ env: { SERVICE_TOKEN } })

test('call sends the credential and prints the answer redacted', async () => {
  stage.upstream.on('/echo', (request, wire) => {
    const end = request.header('x-end') ? '\n' : ''
    const text = `got ${request.header('authorization')}${end}`
    wire.write(answerOf(200, { 'content-type': 'text/plain' }, text))
  })
  const args = ['call', stage.url('/echo'), '-H', 'Authorization: Bearer SVC_SECRET_STRIPE_KEY']
  expect(await ada.run(args, as(token))).toEqual({
    code: 0,
    out: 'got Bearer SVC_SECRET_STRIPE_KEY',
    // The remark starts on a new line, because both outputs can share one screen.
    err: '\na credential in the response was redacted\n',
  })
  for (const options of [['-H', 'X-End: line'], ['--json']]) {
    const { out, err } = await ada.run([...args, ...options], as(token))
    expect({ isLine: out.endsWith('\n'), err }).toEqual({
      isLine: true,
      err: 'a credential in the response was redacted\n',
    })
  }
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
})

test('call sends bodies, methods and headers the way curl does', async () => {
  await ada.run(['call', stage.url('/a'), '-d', 'x=1'], as(token))
  const form = stage.upstream.received.at(-1)
  expect([
    form?.method,
    form?.header('content-type'),
    Buffer.from(form?.body ?? []).toString(),
  ]).toEqual(['POST', 'application/x-www-form-urlencoded', 'x=1'])
  await ada.run(
    ['call', stage.url('/a'), '-X', 'put', '-H', 'Content-Type: application/json', '-d', '@-'],
    {
      stdin: '{"a":1}',
      ...as(token),
    },
  )
  const put = stage.upstream.received.at(-1)
  expect([
    put?.method,
    put?.header('content-type'),
    Buffer.from(put?.body ?? []).toString(),
  ]).toEqual(['PUT', 'application/json', '{"a":1}'])
})

test('call -i prints status and headers, --fail reports an error in the exit code', async () => {
  stage.upstream.on('/missing', answerOf(404, { 'x-kind': 'odd' }, 'no'))
  const shown = await ada.run(['call', stage.url('/missing'), '-i', '--fail'], as(token))
  expect(shown.code).toBe(1)
  expect(shown.out).toBe('404\nx-kind: odd\n\nno')
  expect((await ada.run(['call', stage.url('/missing')], as(token))).code).toBe(0)
})

test('a rejected call is exit 5 with its code, a bad token exit 3', async () => {
  const blocked = await ada.run(['call', 'https://elsewhere.example/'], as(token))
  expect([blocked.code, blocked.err]).toEqual([
    5,
    'cloakroom: elsewhere.example:443 is not on the allowlist of the workspace. An agent can request it: cloakroom proposals create --help (domain_blocked)\n' +
      `→ run: cloakroom allowlist add elsewhere.example\n${detailsOf('domain_blocked')}`,
  ])
  expect((await ada.run(['call', stage.url('/')], as('svc_agt_nonsense'))).code).toBe(3)
  expect((await ada.run(['call', stage.url('/')])).code).toBe(3)
})

test('run passes the environment to the child and masks its output', async () => {
  const masked = await ada.run([
    'run',
    '--',
    'sh',
    '-c',
    'echo "$STRIPE_KEY"; printf %s "$STRIPE_KEY" | base64 >&2',
  ])
  const notice = '[REDACTED] replaces secrets in this output. Pass --no-mask to keep values.\n'
  expect(masked).toMatchObject({ code: 0, out: '[REDACTED]\n' })
  expect([masked.err.replace(notice, ''), masked.err.includes(notice)]).toEqual([
    '[REDACTED]\n',
    true,
  ])
  const plain = await ada.run(['run', '--no-mask', '--', 'sh', '-c', 'printf %s "$STRIPE_KEY"'], {
    reveals: true,
  })
  expect(plain).toEqual({ code: 0, out: VALUE, err: '' })
})

test('run by token uses sealed delivery and hides the token from the child', async () => {
  const workload = await issue('workload-token', 'issue', 'ci')
  const reading = await issue('agent', 'create', 'reader', '--may', 'read,use')
  for (const used of [reading, workload]) {
    const child = 'printf %s/%s "$STRIPE_KEY" "$SERVICE_TOKEN"'
    const ran = await ada.run(['run', '--no-mask', '--', 'sh', '-c', child], {
      ...as(used),
      reveals: true,
    })
    expect(ran).toEqual({ code: 0, out: `${VALUE}/`, err: '' })
  }
  const { sql } = stage.app.connection
  await stage.app.flushAudit()
  const delivered =
    await sql`select credential_ref from audit_logs where action = 'credentials.read'`
  expect(delivered.length).toBe(2)
  expect(JSON.stringify(delivered)).not.toContain(VALUE)
})

test('run with a token that may only use prints how to get one that may read', async () => {
  const ran = await ada.run(['run', '--', 'true'], as(token))
  const how =
    'This token may not read values. Ask an admin for one that may: cloakroom token issue <agent> --may use,read'
  const fix = '→ run: cloakroom token issue bot --may use,read'
  const err = `cloakroom: ${how} (scope_required)\n${fix}\n${detailsOf('scope_required')}`
  expect(ran).toEqual({ code: 5, out: '', err })
})

test('call and mcp with a token that may only read print how to get one that may use', async () => {
  const reading = await issue('workload-token', 'issue', 'vault', '--may', 'read')
  const how =
    'This token may not use credentials. Ask an admin for one that may: cloakroom workload-token issue <label> --may use,read'
  const called = await ada.run(['call', stage.url('/')], as(reading))
  const fix = '→ run: cloakroom workload-token issue vault --may use,read'
  const err = `cloakroom: ${how} (scope_required)\n${fix}\n${detailsOf('scope_required')}`
  expect(called).toEqual({ code: 5, out: '', err })
})

test('the permissions of a token are printed when it is issued, and in the lists', async () => {
  type Shown = { label: string; may: string[]; capabilities: string[] }
  const issued = (await ada.json('token', 'issue', 'reader', '--label', 'shown')) as Shown
  expect(issued.may).toEqual(['use'])
  const listed = await ada.must('token', 'list', 'reader')
  expect(listed).toMatch(/^LABEL +STATUS +MAY/)
  const workloads = (await ada.json('workload-token', 'list')) as Shown[]
  const vault = workloads.find(({ label }) => label === 'vault')
  expect(vault?.capabilities).toEqual(['read'])
  for (const may of ['write', '', 'use,read,write'])
    expect((await ada.run(['agent', 'create', 'odd', '--may', may])).code).toBe(2)
})

test('run omits secrets that a policy keeps from environments', async () => {
  await ada.must(
    'secrets',
    'set',
    'HEADER_ONLY=abcdef',
    '--policy',
    '{"allowed_locations":["header"]}',
  )
  const reading = await issue('workload-token', 'issue', 'leaves-out')
  for (const options of [{}, as(reading)]) {
    const ran = await ada.run(
      ['run', '--no-mask', '--', 'sh', '-c', 'test -z "$HEADER_ONLY" && printf absent'],
      options,
    )
    expect(ran.out).toBe('absent')
  }
})

test("run ignores a policy that the author of a secret did not store, and omits secrets by the author's policy", async () => {
  const set = ['secrets', 'set', '-e', 'kept']
  await ada.must(...set, 'HEADER_ONLY=abcdef', '--policy', '{"allowed_locations":["header"]}')
  await ada.must(...set, 'GIVEN=abcdef')
  const run = ['run', '-e', 'kept', '--no-mask', '--', 'sh', '-c', 'printf %s "$GIVEN"']
  expect(await ada.run(run, { reveals: true })).toMatchObject({ code: 0, out: 'abcdef' })
  await stage.app.connection.sql`update secrets set policy = '{"allowed_locations":[]}'::jsonb
    where key = 'GIVEN' and environment = 'kept'`
  const lied = await ada.run(run)
  expect([lied.code, lied.out]).toEqual([1, ''])
  expect(lied.err).toContain('GIVEN')
})

test('run accepts the environment before the command, as its help states', async () => {
  await ada.must('secrets', 'set', 'WHERE=elsewhere', '-e', 'staging')
  for (const flag of ['--env', '-e']) {
    const ran = await ada.run([
      'run',
      flag,
      'staging',
      '--no-mask',
      '--',
      'sh',
      '-c',
      'printf %s "$WHERE"',
    ])
    expect(ran).toEqual({ code: 0, out: 'elsewhere', err: '' })
  }
})

test('run with --allow-empty prints a remark when the environment has no secrets', async () => {
  const ran = await ada.run(['run', '-e', 'prodution', '--allow-empty', '--', 'true'])
  expect(ran).toEqual({
    code: 0,
    out: '',
    err: 'no secrets for this command: check the environment and the policies\n',
  })
})

test('run passes exit codes, signals and standard input through', async () => {
  expect((await ada.run(['run', '--', 'sh', '-c', 'exit 7'])).code).toBe(7)
  expect((await ada.run(['run', '--', 'sh', '-c', 'kill -TERM $$'])).code).toBe(143)
  expect((await ada.run(['run', '--', 'cat'], { stdin: 'through' })).out).toBe('through')
  expect((await ada.run(['run', '--', 'no-such-program'])).code).toBe(127)
  expect((await ada.run(['run'])).code).toBe(2)
})

test('arguments after -- belong to the command', async () => {
  const ran = await ada.run(['run', '--no-mask', '--', 'printf', '%s|', '--json', '-e', 'x'])
  expect(ran.out).toBe('--json|-e|x|')
})

test('tokens are issued, listed, granted and revoked', async () => {
  const id = ((await ada.json('token', 'issue', 'bot', '--label', 'second')) as { id: string }).id
  const tokens = (await ada.json('token', 'list', 'bot')) as {
    id: string
    label: string
    status: string
  }[]
  expect(tokens.map(({ label, status }) => [label, status])).toEqual([
    ['default', 'active'],
    ['second', 'active'],
  ])
  await ada.must('token', 'revoke', 'bot', id)
  const after = (await ada.json('token', 'list', 'bot')) as { id: string; status: string }[]
  expect(after.find((entry) => entry.id === id)?.status).toBe('revoked')
})

test('an agent for all projects can call after a grant', async () => {
  const made = (await ada.json(
    'agent',
    'create',
    'wide',
    '--all-projects',
    '--expires-in-days',
    'never',
  )) as {
    token: string
  }
  const args = ['call', stage.url('/a'), '-H', 'X-Key: SVC_SECRET_STRIPE_KEY']
  const before = await ada.run(args, as(made.token))
  expect([before.code, before.err]).toEqual([5, expect.stringContaining('key_not_provisioned')])
  const [listed] = (await ada.json('token', 'list', 'wide')) as {
    id: string
    expires_at: string | null
  }[]
  expect(listed?.expires_at).toBe(null)
  await ada.must('token', 'grant', 'wide', listed?.id ?? '')
  expect((await ada.run(args, as(made.token))).code).toBe(0)
  const granted = async () => {
    const [now] = (await ada.json('token', 'list', 'wide')) as { provisioned: unknown[] }[]
    return now?.provisioned.length
  }
  expect(await granted()).toBe(1)
  expect(await ada.json('token', 'ungrant', 'wide', listed?.id ?? '')).toEqual({
    agent: 'wide',
    token_id: listed?.id,
    taken_away: 'payments/development',
  })
  expect(await granted()).toBe(0)
  const [record = ''] = (await ada.must('audit', 'list', '-q')).split('\n')
  expect(await ada.json('audit', 'show', record)).toMatchObject({
    id: record,
    action: 'token.grant_removed',
  })
  expect(await ada.must('audit', 'show', record)).toContain('token.grant_removed')
  await ada.must('token', 'grant', 'wide', listed?.id ?? '')
  expect(await ada.run(['token', 'ungrant', 'wide', listed?.id ?? ''])).toMatchObject({
    code: 0,
    err: expect.stringContaining('until you revoke the token or rekey the workspace'),
  })
  expect(await ada.must('audit', 'list', '--action', 'token.issued')).toContain('wide/')
  expect((await ada.run(['audit', 'show', Bun.randomUUIDv7()])).code).toBe(4)
})

test('workload tokens are listed and revoked; a sealed one cannot decrypt', async () => {
  const sealed = await issue('workload-token', 'issue', 'sealed', '--sealed')
  expect(sealed).toStartWith('svc_sea_')
  expect((await ada.run(['run', '--', 'true'], as(sealed))).code).toBe(3)
  const listed = (await ada.json('workload-token', 'list')) as { id: string; label: string }[]
  const { id = '' } = listed.find(({ label }) => label === 'sealed') ?? {}
  await ada.must('workload-token', 'revoke', id)
  const after = (await ada.json('workload-token', 'list')) as { id: string; status: string }[]
  expect(after.find((entry) => entry.id === id)?.status).toBe('revoked')
})

test('the audit is listed, filtered, summed up and exported', async () => {
  const blocked = (await ada.json('audit', 'list', '--status', '403')) as {
    target_domain: string | null
    reason: string
    action: string | null
  }[]
  expect(
    blocked.map(({ target_domain, reason, action }) => [reason, target_domain ?? action]),
  ).toEqual([
    ['scope_required', null],
    ['scope_required', 'credentials.read'],
    ['domain_blocked', 'elsewhere.example'],
  ])
  const summary = (await ada.json('audit', 'summary', '--since', '2020-01-01')) as {
    by_domain: { domain: string }[]
  }
  expect(summary.by_domain.map(({ domain }) => domain)).toContain(API)
  const exported = await ada.must('audit', 'export')
  const lines = exported
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.length).toBeGreaterThan(10)
  expect(exported).not.toContain(VALUE)
  for (const limit of ['0', '501', '0x10', '1e2', '+5', ' 5', ''])
    expect((await ada.run(['audit', 'list', '--limit', limit])).code).toBe(2)
})

test('an audit filter accepts a host with its port, which the table shows, and no mistyped action', async () => {
  const listed = (...filters: string[]) => ada.json('audit', 'list', ...filters)
  const ofHost = await listed('--domain', API)
  expect(ofHost).not.toEqual([])
  expect(await listed('--domain', `${API}:8443`)).toEqual(ofHost)
  const { sql } = stage.app.connection
  const [{ id } = { id: '' }] = ofHost as { id: string }[]
  expect(await ada.must('audit', 'list', '--domain', API)).not.toContain(`${API}:8443/`)
  await sql`update audit_logs set target_url = ${`https://${API}:8443/v1`} where id = ${id}`
  expect(await ada.must('audit', 'list', '--domain', API)).toContain(`${API}:8443/`)
  expect(await ada.run(['audit', 'list', '--action', 'token.isued'])).toEqual({
    code: 2,
    out: '',
    err: 'cloakroom: there is no action token.isued (usage)\n→ actions: token.issued\n',
  })
  expect(await listed('--action', 'token.issued')).not.toEqual([])
})

test('the audit lists what one member, agent or token did', async () => {
  type Listed = { id: string; agent_id: string; token_id: string | null }
  const listed = async (...filters: string[]) =>
    (await ada.json('audit', 'list', '--limit', '500', ...filters)) as Listed[]
  const all = await listed()
  const expectOnly = async (actor: string, isTheirs: (record: Listed) => boolean) => {
    const theirs = all.filter(isTheirs).map(({ id }) => id)
    expect(theirs).not.toEqual([])
    expect(theirs.length).toBeLessThan(all.length)
    expect((await listed('--actor', actor)).map(({ id }) => id)).toEqual(theirs)
  }
  const { email } = (await ada.json('whoami')) as { email: string }
  await expectOnly(email, ({ agent_id }) => agent_id === email)
  await expectOnly(email.toUpperCase(), ({ agent_id }) => agent_id === email)
  const { agent_id: agent = '', token_id: token } = all.find((it) => it.token_id !== null) ?? {}
  await expectOnly(agent, ({ agent_id }) => agent_id === agent)
  await expectOnly(token ?? '', ({ token_id }) => token_id === token)
  expect(await listed('--actor', 'nobody@example.com')).toEqual([])
  expect((await ada.run(['audit', 'list', '--actor', agent, '--agent', agent])).code).toBe(2)
})

// `audit tail` never ends by itself, so it has a process that a signal ends.
test('audit tail prints records as they arrive', async () => {
  const child = watched(
    Bun.spawn([await executable(), 'audit', 'tail', '--json'], {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: stage.app.controlPlane },
      stdout: 'pipe',
    }),
  )
  const calls = setInterval(() => void ada.run(['call', stage.url('/tailed')], as(token)), 1000)
  const { value } = await child.stdout.getReader().read()
  clearInterval(calls)
  child.kill()
  const [first = ''] = new TextDecoder().decode(value).split('\n')
  expect(JSON.parse(first)).toEqual(
    expect.objectContaining({ agent_id: 'bot', target_path: '/tailed' }),
  )
})

test('audit tail begins with earlier records, if requested', async () => {
  await ada.run(['call', stage.url('/before')], as(token))
  const child = watched(
    Bun.spawn([await executable(), 'audit', 'tail', '--json', '--since', '1w', '--agent', 'bot'], {
      cwd: ada.cwd,
      env: { HOME: ada.home, SERVICE_SERVER_URL: stage.app.controlPlane },
      stdout: 'pipe',
    }),
  )
  let shown = ''
  for await (const piece of child.stdout) {
    shown += new TextDecoder().decode(piece)
    if (shown.includes('"/before"')) break
  }
  child.kill()
  expect(shown).toContain('"/before"')
})

test('an invalid time is rejected with examples of valid ones', async () => {
  const ran = await ada.run(['audit', 'list', '--since', 'yesterday'])
  expect([ran.code, ran.err]).toEqual([
    2,
    expect.stringContaining('a time, a day or a duration: 2026-03-14, 7d, 12h'),
  ])
})

test("an agent's tokens are rejected once it is deleted", async () => {
  const doomed = await issue('agent', 'create', 'doomed')
  expect((await ada.run(['call', stage.url('/a')], as(doomed))).code).toBe(0)
  await ada.must('agent', 'delete', 'doomed', '--yes')
  expect((await ada.run(['call', stage.url('/a')], as(doomed))).code).toBe(3)
  const agents = (await ada.json('agent', 'list')) as { name: string }[]
  expect(agents.map(({ name }) => name)).not.toContain('doomed')
})
