// tier: all
/**
 * Names are not signed. An attacker with a stolen session can rename, and so can one with the database: a name, the
 * personal workspace and an agent's project select the same objects as before, or none.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { signUp } from '../../src/client/account/log_in.ts'
import { uuidv8 } from '../../src/core/crypto/encoding.ts'
import { openAccount, PASSWORD, type Terminal } from '../cli/person.ts'
import { loggedIn, plainWorkspace } from '../cli/signed_person.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'

let app: TestApp
let ada: Terminal
let eve: Terminal
/** The attacker's workspace, and the one that ada intends. */
let theirs: string
let live: string

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  eve = await openAccount(app, 'eve@example.com')
  live = ((await ada.json('workspace', 'create', 'live')) as { id: string }).id
  theirs = ((await eve.json('workspace', 'create', 'theirs')) as { id: string }).id
  const { fingerprint } = (await ada.json('whoami')) as { fingerprint: string }
  const invite = ['workspace', 'invite', 'ada@example.com', '-w', 'theirs', '--role', 'owner']
  await eve.must(...invite, '--fingerprint', fingerprint)
  await ada.must('workspace', 'accept', 'theirs')
  await ada.must('workspace', 'list')
})
afterAll(async () => {
  for (const person of [ada, eve]) person.remove()
  await app.stop()
})

/** Exchanges the names of two rows, which a person with the right to rename can do in three calls. */
async function swap(table: 'workspaces' | 'projects' | 'agents', one: string, other: string) {
  const { sql } = app.connection
  await sql.unsafe(`
    create temporary table swapped as select id, name from ${table} where id in ('${one}', '${other}');
    update ${table} set name = id::text where id in ('${one}', '${other}');
    update ${table} t set name = s.name from swapped s where t.id in ('${one}', '${other}') and s.id <> t.id;
    drop table swapped`)
}

/** Code and kind of an error, and its message. */
async function refused(...args: string[]) {
  const { code, err } = await ada.run(['--json', ...args])
  const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
  return { code, kind: error.code, message: error.message, hint: error.hint }
}

async function count(table: string, column: string, value: string): Promise<number> {
  const [row] = await app.connection.sql.unsafe(
    `select count(*)::int as count from ${table} where ${column} = '${value}'`,
  )
  return row?.count
}

describe('a workspace', () => {
  test("nothing is written to a workspace that takes another's name", async () => {
    await swap('workspaces', live, theirs)
    const create = (name: string, ...more: string[]) => ['project', 'create', name, ...more]
    expect(await refused(...create('one', '-w', 'live'))).toEqual({
      code: 5,
      kind: 'changed_name',
      message: `the workspace live was ${live} (signed), but the server now shows ${theirs} (signed); nothing was done`,
      hint: expect.stringContaining(`cloakroom workspace accept-name ${theirs}`),
    })
    expect(await refused(...create('one', '-w', 'theirs'))).toMatchObject({ kind: 'changed_name' })
    expect(await count('projects', 'workspace_id', theirs)).toBe(0)
    await ada.must(...create('by-id', '-w', live))
    expect(await count('projects', 'workspace_id', live)).toBe(1)
    await swap('workspaces', live, theirs)
    await ada.must(...create('by-name', '-w', 'live'))
  })

  test('a workspace that a colleague renames stays usable under its new name', async () => {
    const other = await loggedIn(app, 'ada@example.com')
    await other.must('workspace', 'rename', 'live', 'live-eu')
    await ada.must('project', 'create', 'renamed', '-w', 'live-eu')
    await other.must('workspace', 'rename', 'live-eu', 'live')
    other.remove()
    await ada.must('project', 'delete', 'renamed', '-w', 'live', '--yes')
  })

  test('a workspace gets the name only after a yes', async () => {
    await swap('workspaces', live, theirs)
    const asked = await ada.run(['workspace', 'accept-name', 'live'])
    expect(asked.code).toBe(2)
    expect(asked.err).toContain(`live meant ${live} and now means ${theirs}`)
    expect(await refused('project', 'list', '-w', 'live')).toMatchObject({ kind: 'changed_name' })
    await ada.must('workspace', 'accept-name', 'live', '--yes')
    await ada.must('project', 'list', '-w', 'live')
    await swap('workspaces', live, theirs)
    await ada.must('workspace', 'accept-name', live, '--yes')
    await ada.must('project', 'list', '-w', 'live')
  })

  test('a plain workspace beside signed ones is reported on a new machine, with the fingerprint to compare', async () => {
    await plainWorkspace(app, 'eve@example.com', 'notes')
    const { err } = await eve.run(['project', 'list', '-w', 'notes'])
    expect(err).toMatch(
      /notes is new to this machine and is not signed.* fingerprint: ([0-9a-f]{4} ){15}/,
    )
    expect((await eve.run(['project', 'list', '-w', 'notes'])).err).toBe('')
  })
})

describe('the personal workspace', () => {
  /** Sets the workspace that the server presents as ada's personal one, and the workspace that it hides. */
  async function personal(id: string, hidden: string | null = null): Promise<void> {
    const { sql } = app.connection
    await sql`update workspaces w set type = case when w.id = ${id} then 'personal' else 'shared' end
      from memberships m join users u on u.id = m.user_id
      where m.workspace_id = w.id and u.email = 'ada@example.com'`
    await sql`update memberships m set status = case when m.workspace_id = ${hidden ?? null} then 'invited' else 'active' end
      from users u where u.id = m.user_id and u.email = 'ada@example.com'`
  }
  let own = ''
  beforeAll(async () => {
    const listed = (await ada.json('workspace', 'list')) as { id: string; type: string }[]
    own = listed.find(({ type }) => type === 'personal')?.id ?? ''
  })

  test('the personal workspace is the one that this machine registered, whatever the server calls it', async () => {
    await personal(theirs)
    await ada.must('project', 'create', 'mine')
    expect(await count('projects', 'workspace_id', own)).toBe(1)
    await personal(theirs, own)
    expect(await refused('project', 'create', 'mine')).toMatchObject({
      code: 5,
      kind: 'changed_name',
      message: expect.stringContaining(`was ${own} (signed), but the server now shows`),
    })
    expect(await count('projects', 'workspace_id', theirs)).toBe(0)
    await personal(own)
  })

  test('a new machine refuses a personal workspace with another founder', async () => {
    await personal(theirs)
    const other = await loggedIn(app, 'ada@example.com')
    const { code, err } = await other.run(['project', 'create', 'mine', '--json'])
    expect([code, JSON.parse(err.trim().split('\n').at(-1) ?? '').error]).toMatchObject([
      5,
      {
        code: 'unverified_workspace',
        message: expect.stringContaining('someone else created it'),
      },
    ])
    await other.must('project', 'list', '-w', 'live')
    await personal(own)
    await other.must('project', 'list')
    await personal(live)
    expect(await other.json('project', 'list')).toMatchObject([{ workspace_id: own }])
    await personal(own)
    other.remove()
  })
})

test("an older client's plain personal workspace stays usable, and no other takes its place", async () => {
  const { sql } = app.connection
  const { workspaceId } = await signUp(
    app.controlPlane,
    'old@example.com',
    PASSWORD,
    false,
    undefined,
    cheapArgon2id,
  )
  const old = await loggedIn(app, 'old@example.com')
  await old.must('project', 'create', 'notes')
  const other = await plainWorkspace(app, 'old@example.com', 'other')
  await sql`update workspaces set type = 'shared' where id = ${workspaceId}`
  await sql`update workspaces set type = 'personal' where id = ${other}`
  await old.must('project', 'create', 'mine')
  expect(await count('projects', 'workspace_id', workspaceId)).toBe(2)
  await sql`update memberships set status = 'invited' where workspace_id = ${workspaceId}`
  const { code, err } = await old.run(['project', 'create', 'theirs', '--json'])
  expect([code, JSON.parse(err).error.code]).toEqual([5, 'changed_name'])
  await old.must('workspace', 'accept-name', 'other', '--yes')
  await old.must('project', 'create', 'theirs')
  expect(await count('projects', 'workspace_id', other)).toBe(1)
  old.remove()
})

describe('a project', () => {
  const inLive = (...args: string[]) => ['-w', live, ...args]
  const idOf = async (name: string) =>
    ((await ada.json(...inLive('project', 'create', name))) as { id: string }).id

  test("a project that takes another's name receives no secret or token", async () => {
    const [payments, decoy] = [await idOf('payments'), await idOf('decoy')]
    await swap('projects', payments, decoy)
    for (const args of [
      ['secrets', 'set', 'KEY=value'],
      ['run', '--', 'true'],
      ['workload-token', 'issue', 'ci'],
      ['agent', 'create', 'bot'],
      ['secrets', 'copy', 'KEY', '--to', 'staging', '--yes'],
    ])
      expect(await refused(...inLive('-p', 'payments', ...args))).toMatchObject({
        code: 5,
        kind: 'changed_name',
        message: `the project payments was ${payments}, but the server now shows ${decoy}; nothing was done`,
      })
    expect(await count('secrets', 'project_id', decoy)).toBe(0)
    await ada.must(...inLive('secrets', 'set', 'KEY=value', '-p', payments))
    await ada.must(...inLive('project', 'accept-name', 'payments', '--yes'))
    await ada.must(...inLive('secrets', 'list', '-p', 'payments'))
    await swap('projects', payments, decoy)
    await ada.must(...inLive('project', 'accept-name', 'payments', '--yes'))
    await ada.must(...inLive('secrets', 'list', '-p', 'payments'))
  })

  test('a project in a project file is the one that it named', async () => {
    const [billing, other] = [await idOf('billing'), await idOf('other')]
    await ada.must(...inLive('link', 'billing'))
    await swap('projects', billing, other)
    expect(await refused('secrets', 'set', 'KEY=value')).toMatchObject({ kind: 'changed_name' })
    expect(await refused('init', 'billing')).toMatchObject({ kind: 'changed_name' })
    await swap('projects', billing, other)
    await ada.must('secrets', 'set', 'KEY=value')
    await ada.must('project', 'rename', 'billing', 'invoices')
    await ada.must('secrets', 'set', 'KEY=value')
    rmSync(join(ada.cwd, '.cloakroom.json'))
  })

  test('a project that was just created never resolves to one that is already pinned on this machine', async () => {
    const { sql } = app.connection
    const [known, hidden] = [await idOf('known'), await idOf('hidden')]
    const lying = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const real = await fetch(`${app.controlPlane}${pathname}${search}`, request)
        const text = await real.text()
        const isCreated = request.method === 'POST' && pathname === '/api/projects/'
        const told = isCreated ? text.replace(/"id":"[^"]*"/, `"id":"${known}"`) : text
        return new Response(told, {
          status: real.status,
          headers: { 'content-type': 'application/json' },
        })
      },
    })
    const victim = await loggedIn({ ...app, controlPlane: lying.url.origin }, 'ada@example.com')
    await victim.must('project', 'list', ...inLive())
    const { code, err } = await victim.run(['project', 'create', 'fresh', ...inLive(), '--json'])
    expect([code, JSON.parse(err.trim().split('\n').at(-1) ?? '').error]).toMatchObject([
      5,
      {
        code: 'changed_name',
        message: expect.stringContaining(`${known}, which is known on this machine`),
      },
    ])
    victim.remove()
    await lying.stop(true)
    await sql`update projects set name = 'renamed' where id = ${hidden}`
    expect(await refused('init', 'hidden', ...inLive())).toMatchObject({
      kind: 'changed_name',
      message: expect.stringContaining(`hidden was ${hidden}, but the new one is`),
    })
    await ada.must(...inLive('project', 'accept-name', 'hidden', '--yes'))
    await ada.must('init', 'hidden', ...inLive())
    await ada.must('init', 'another', '--yes', ...inLive())
    rmSync(join(ada.cwd, '.cloakroom.json'))
  })

  test('a project that replaces the only one is not the default', async () => {
    const solo = ['-w', ((await ada.json('workspace', 'create', 'solo')) as { id: string }).id]
    await ada.must('project', 'create', 'first', ...solo)
    await ada.must('secrets', 'set', 'KEY=value', ...solo)
    const other = await loggedIn(app, 'ada@example.com')
    await other.must('project', 'delete', 'first', '--yes', ...solo)
    await other.must('project', 'create', 'second', ...solo)
    other.remove()
    expect(await refused('secrets', 'set', 'KEY=value', ...solo)).toMatchObject({
      code: 5,
      kind: 'changed_name',
    })
    await ada.must('secrets', 'set', 'KEY=value', '-p', 'second', ...solo)
    await ada.must('project', 'accept-name', 'second', '--yes', ...solo)
    await ada.must('secrets', 'set', 'KEY=value', ...solo)
  })

  test("a token's project is the one with the typed name", async () => {
    const issue = inLive('workload-token', 'issue', 'ci', '-p', 'decoy')
    await ada.must(...inLive('secrets', 'set', 'KEY=value', '-p', 'decoy'))
    const { token } = (await ada.json(...issue)) as { token: string }
    const run = (...named: string[]) => ['run', ...named, '--token', token, '--', 'true']
    expect(await refused(...run('-p', 'payments'))).toMatchObject({ kind: 'changed_name' })
    expect(await refused('secrets', 'pull', '--token', token, '-p', 'payments')).toMatchObject({
      kind: 'changed_name',
    })
    for (const named of [['-p', 'decoy'], ['-p', 'seen-nowhere'], []])
      await ada.must(...run(...named))
  })
})

describe('an agent', () => {
  const here = (...args: string[]) => ['-w', live, '-p', 'payments', ...args]
  const idOf = async (name: string) =>
    ((await ada.json(...here('agent', 'create', name))) as { id: string }).id
  let bot = ''
  let spy = ''
  beforeAll(async () => {
    bot = await idOf('bot')
    spy = await idOf('spy')
  })

  test("an agent that takes another's name gets no token and no grant", async () => {
    await swap('agents', bot, spy)
    for (const args of [
      ['token', 'issue', 'bot'],
      ['token', 'grant', 'bot', 'default'],
      ['token', 'revoke', 'bot', 'default'],
      ['agent', 'delete', 'bot', '--yes'],
      ['proxy', '--agent', 'bot', '--', 'true'],
    ])
      expect(await refused(...here(...args))).toMatchObject({ code: 5, kind: 'changed_name' })
    await ada.must(...here('token', 'issue', bot, '--label', 'by-id'))
    await ada.must(...here('agent', 'accept-name', 'bot', '--yes'))
    await ada.must(...here('token', 'list', 'bot'))
    await swap('agents', bot, spy)
    await ada.must(...here('agent', 'accept-name', 'bot', '--yes'))
    await ada.must(...here('token', 'list', 'bot'))
  })

  test.each([
    ['every project', 'null'],
    ['another project', "(select id from projects where name = 'decoy')"],
  ])('an agent is not bound to %s by its row', async (_, other) => {
    const { sql } = app.connection
    const [row] = await sql`select project_id from agents where id = ${bot}`
    await sql.unsafe(`update agents set project_id = ${other} where id = '${bot}'`)
    expect(await refused(...here('token', 'issue', bot))).toMatchObject({
      code: 5,
      kind: 'changed_name',
      message: expect.stringContaining(`the project of the agent bot was ${row?.project_id}`),
    })
    await ada.must(...here('token', 'list', 'bot'))
    await sql`update agents set project_id = ${row?.project_id} where id = ${bot}`
    await ada.must(...here('token', 'issue', 'bot', '--label', other))
  })

  test('an agent gets no token for a foreign project', async () => {
    const args = ['token', 'issue', 'bot', '-w', live, '-p', 'decoy']
    expect(await refused(...args)).toMatchObject({ code: 4, kind: 'not_found' })
  })
})

test("a hidden token's ID does not end another token with that label", async () => {
  const here = (...args: string[]) => ['-w', live, '-p', 'payments', ...args]
  const [hidden, label] = [uuidv8(), crypto.randomUUID()]
  for (const each of [hidden, label]) await ada.must(...here('workload-token', 'issue', each))
  expect(await refused(...here('workload-token', 'revoke', hidden))).toMatchObject({
    code: 4,
    kind: 'ambiguous_name',
  })
  expect(await count('tokens', 'revoked_at is null and label', hidden)).toBe(1)
  const listed = (await ada.json(...here('workload-token', 'list'))) as {
    id: string
    label: string
  }[]
  const { id = '' } = listed.find((each) => each.label === hidden) ?? {}
  for (const typed of [id, label]) await ada.must(...here('workload-token', 'revoke', typed))
})

test('a name with line breaks forges no line, in notices and errors', async () => {
  const { sql } = app.connection
  const forged = 'live\ncloakroom: verified\r\n\u2028→ all is well'
  await sql`update workspaces set name = ${forged} where id = ${live}`
  const other = await loggedIn(app, 'ada@example.com')
  const met = await other.run(['workspace', 'verify', '-w', live])
  await sql`delete from workspace_links where workspace_id = ${live}`
  const refusal = await other.run(['allowlist', 'add', 'a.example', '-w', live])
  expect([met.code, refusal.code]).toEqual([0, 5])
  for (const { err, out } of [met, refusal])
    for (const line of `${err}\n${out}`.split(/[\n\r\u2028]/))
      expect(line).not.toMatch(/^(cloakroom: verified|→ all is well)/)
  other.remove()
})
