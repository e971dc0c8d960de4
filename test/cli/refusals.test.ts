// tier: quick
/**
 * Every command rejects bad input before it asks or sends anything, and names the required role if a role does not
 * permit it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { forms } from '../../src/cli/arguments.ts'
import { globalOptions } from '../../src/cli/options.ts'
import { startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { groups, topLevel } from './every_command.ts'
import { openTerminal, type Terminal } from './person.ts'
import { signedAccount, signedWorkspace } from './signed_person.ts'

/** Words whose arguments are names of existing objects, or free text: their command looks them up. */
const FREE = [
  ...['account', 'command', 'description', 'fields', 'folder', 'ids', 'invitation', 'label'],
  ...['pairs', 'proposal', 'record', 'request', 'setting', 'shell', 'target', 'text', 'token'],
  ...['tool', 'topic', 'type', 'url', 'value', 'version'],
]

const ENVIRONMENTS = ['Prod Env!', 'Production', '1st', '', 'x'.repeat(33)]
const SECRETS = ['stripe-key', '1KEY', 'A B', '', '__proto__', 'x'.repeat(129)]
const PROJECTS = ['My Shop', 'Shop', 'x', '', 'secrets']
const TITLES = ['', ' ', 'a\u202eb', 'x'.repeat(101)]

const BAD: Record<string, string[]> = {
  email: ['notanemail', 'jürgen@example.com', 'a@', ''],
  emails: ['notanemail', 'jürgen@example.com'],
  member: ['notanemail', 'jürgen@example.com', '0190c3a5'],
  role: ['administrator', 'Owner'],
  domains: ['https://api.stripe.com/v1', '10.0.0.1', 'a b'],
  environment: ENVIRONMENTS,
  from: ENVIRONMENTS,
  to: ENVIRONMENTS,
  project: PROJECTS,
  key: SECRETS,
  keys: SECRETS,
  secret: [...SECRETS, 'A,b-c'],
  workspace: TITLES,
  agent: TITLES,
  path: [''],
  place: ['shared', 'shared/Production', 'My Shop/production', 'a/b/c'],
}
const GOOD: Record<string, string> = {
  member: 'ada@example.com',
  email: 'ada@example.com',
  emails: 'ada@example.com',
  environment: 'staging',
  from: 'staging',
  to: 'production',
  project: 'shop',
  key: 'KEY',
  keys: 'KEY',
  name: 'shop',
  role: 'member',
  domains: 'api.example.com',
}

const commands = [
  ...topLevel.map((spec) => ({ path: [] as string[], spec })),
  ...groups.flatMap(({ name, commands }) => commands.map((spec) => ({ path: [name], spec }))),
].map(({ path, spec: { usage, names, options } }) => {
  const [name = '', ...words] = usage.split(' ')
  return {
    path: [...path, name],
    words: words.map((word) => word.replace(/[^a-z]/g, '')),
    names,
    options: options.map(([flags]) => flags),
  }
})

test('every argument has a format, or is the name of an object', () => {
  const words = new Set(commands.flatMap(({ words }) => words))
  words.delete('name')
  const unknown = [...words].filter((word) => !(word in forms) && !FREE.includes(word))
  expect(unknown).toEqual([])
  const unnamed = commands.filter(
    ({ words, names }) => words.includes('name') !== (names !== undefined),
  )
  expect(unnamed).toEqual([])
  expect(Object.keys(BAD).sort()).toEqual(Object.keys(forms).sort())
})

describe('bad input', () => {
  let nobody: Terminal
  beforeAll(async () => {
    // Nothing listens at this address, so a command that sends a request fails with another error.
    nobody = await openTerminal({
      controlPlane: 'http://127.0.0.1:9',
      resolver: 'http://127.0.0.1:9',
    })
  })
  afterAll(() => nobody.remove())

  const good = (words: readonly string[]) => words.map((word) => GOOD[word] ?? 'x')
  const ofArguments = commands.flatMap(({ path, words, names }) =>
    words.flatMap((word, at) => {
      const naming = word === 'name' ? names : undefined
      return (BAD[naming ?? word] ?? []).map((text) => [...path, ...good(words).with(at, text)])
    }),
  )
  const ofOptions = [
    ...commands,
    { path: ['secrets', 'list'], words: [], options: globalOptions.map(([flags]) => flags) },
  ].flatMap(({ path, words, options }) =>
    options.flatMap((flags) => {
      const { 1: flag = '', 2: word = '' } = /(--[a-z-]+) <([a-z]+)/.exec(flags) ?? []
      return (BAD[word] ?? []).map((text) => [...path, `${flag}=${text}`, ...good(words)])
    }),
  )
  const cases = [...ofArguments, ...ofOptions]
  for (const args of cases)
    test(`cloakroom ${args.join(' ')} is rejected before any question`, async () => {
      const { code, err } = await nobody.run(['--json', ...args])
      expect([code, JSON.parse(err).error.code]).toEqual([2, 'usage'])
    })
})

describe('the path -', () => {
  const takesPath = commands.flatMap(({ path, words, options }) => [
    ...(words.includes('path') ? [[...path, '-']] : []),
    ...options.flatMap((flags) => {
      const { 1: flag } = /(--[a-z-]+) <path/.exec(flags) ?? []
      return flag ? [[...path, `${flag}=-`, ...words.map((word) => GOOD[word] ?? 'x')]] : []
    }),
  ])
  /** Standard input or output; test/cli/pull.test.ts reads the output. */
  const STREAMS = ['inject --in-file=-', 'inject --out-file=-', 'secrets pull -', 'secrets push -']

  test('the path - is standard input or output, or rejected with the way to name such a file', async () => {
    const nobody = await openTerminal({
      controlPlane: 'http://127.0.0.1:9',
      resolver: 'http://127.0.0.1:9',
    })
    const taken: string[] = []
    for (const args of [...takesPath, ['--ca-file=-', 'secrets', 'list']]) {
      const { err } = await nobody.run(args, { stdin: 'A=1\n' })
      if (
        err.includes(
          '- is not accepted here. (usage)\n→ give a file; for a file named -, use ./-\n',
        )
      )
        continue
      taken.push(args.join(' '))
    }
    expect(taken.sort()).toEqual([...STREAMS, 'secrets set --from-file=- x'].sort())
    expect(readdirSync(nobody.cwd)).toEqual([])
    nobody.remove()
  })
})

test('a name that cannot exist is rejected with a similar one, also from a variable and a file', async () => {
  const nobody = await openTerminal({
    controlPlane: 'http://127.0.0.1:9',
    resolver: 'http://127.0.0.1:9',
  })
  const cases: [args: string[], env: Record<string, string>, says: string, meant: string][] = [
    [
      ['env', 'use', 'Prod Env!'],
      {},
      '"Prod Env!" cannot be the name of an environment.',
      'prod-env',
    ],
    [['run', '-e', 'Production', '--', 'true'], {}, '"Production" cannot', 'production'],
    [['secrets', 'list', '-e', 'PROD'], {}, '"PROD" cannot', 'production'],
    [
      ['secrets', 'get', 'stripe-key'],
      {},
      '"stripe-key" cannot be the name of a secret.',
      'stripe_key',
    ],
    [['project', 'create', 'My Shop'], {}, '"My Shop" cannot be the name of a project.', 'my-shop'],
    [['config', 'environment', 'Staging'], {}, '"Staging" cannot', 'staging'],
    [
      ['secrets', 'list'],
      { SERVICE_ENVIRONMENT: 'Staging' },
      'SERVICE_ENVIRONMENT: "Staging"',
      'staging',
    ],
  ]
  for (const [args, env, message, meant] of cases) {
    const { code, out, err } = await nobody.run(args, { env })
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)])
    expect(err).toContain(`did you mean ${meant}?`)
  }
  expect(readdirSync(nobody.cwd)).toEqual([])
  nobody.remove()
})

describe('a role without permission', () => {
  let app: TestApp
  const people: Record<string, Terminal> = {}
  beforeAll(async () => {
    app = await startTestApp(UNLIMITED)
    for (const role of ['owner', 'member', 'read_only'])
      people[role] = await signedAccount(app, `${role.replace('_', '-')}@example.com`)
    await signedWorkspace(app, 'owner@example.com', 'acme')
    const owner = people.owner as Terminal
    for (const role of ['member', 'read_only']) {
      const person = people[role] as Terminal
      const email = `${role.replace('_', '-')}@example.com`
      const { fingerprint } = (await person.json('whoami')) as { fingerprint: string }
      const asked = ['--role', role, '--fingerprint', fingerprint]
      await owner.must('workspace', 'invite', email, ...asked, '-w', 'acme')
      await person.must('workspace', 'accept', 'acme')
    }
    await owner.must('project', 'create', 'shop', '-w', 'acme')
    await owner.must('secrets', 'set', 'KEY=a-value-that-is-secret', '-p', 'shop', '-w', 'acme')
    for (const person of Object.values(people))
      await person.must('workspace', 'verify', '-w', 'acme')
  })
  afterAll(async () => {
    for (const person of Object.values(people)) person.remove()
    await app.stop()
  })

  const ADMIN = 'owner or admin'
  const cases: [role: string, needed: string, args: string[]][] = [
    ['member', ADMIN, ['workspace', 'rekey', '--yes']],
    ['member', ADMIN, ['workspace', 'role', 'read-only@example.com', 'member']],
    ['member', ADMIN, ['workspace', 'remove', 'read-only@example.com', '--yes']],
    ['member', 'owner', ['workspace', 'delete', 'acme', '--yes']],
    ['member', ADMIN, ['workspace', 'rename', 'acme', 'other']],
    ['member', ADMIN, ['allowlist', 'add', 'api.example.com']],
    ['member', ADMIN, ['project', 'delete', 'shop', '--yes']],
    ['member', ADMIN, ['agent', 'create', 'bot', '-p', 'shop']],
    ['member', ADMIN, ['workload-token', 'issue', 'ci', '-p', 'shop']],
    ['member', ADMIN, ['audit', 'export']],
    ['read_only', 'owner, admin or member', ['secrets', 'set', 'A=a-secret', '-p', 'shop']],
    ['read_only', 'owner, admin or member', ['secrets', 'delete', 'KEY', '--yes', '-p', 'shop']],
    ['read_only', 'owner, admin or member', ['project', 'create', 'other']],
  ]
  for (const [role, needed, args] of cases)
    test(`${args.slice(0, 2).join(' ')} as ${role} names the role needed and the people who have it`, async () => {
      const person = people[role] as Terminal
      const { code, err } = await person.run([...args, '-w', 'acme', '--json'])
      const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
      expect([code, error.code, error.hint, error.message]).toEqual([
        5,
        'forbidden',
        'see the permissions of each role: cloakroom workspace members --help',
        expect.stringContaining(
          `This needs the role ${needed} in acme. Yours is ${role}. Ask owner@example.com (owner)`,
        ),
      ])
    })

  test('a rejected rekey stores nothing', async () => {
    const { sql } = app.connection
    const links = () => sql`select count(*)::int as count from workspace_links`
    const before = await links()
    await (people.member as Terminal).run(['workspace', 'rekey', '--yes', '-w', 'acme'])
    expect(await links()).toEqual(before)
  })
})
