// tier: all
/** Completion with TAB: tested in the program, and typed into real shells that start the executable. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { flagOf } from '../../src/cli/completion/line.ts'
import { shells, sources } from '../../src/cli/completion/sources.ts'
import { executable } from '../binary/executable.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { search } from '../support/canary.ts'
import { watched } from '../support/watched.ts'
import { groups, topLevel } from './every_command.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@completion.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'STRIPE_KEY=one', 'STRIPE_URL=two', 'OTHER=three')
  await ada.must('secrets', 'set', 'ONLY_THERE=one', '-e', 'staging')
  await ada.must('agent', 'create', 'deploy-bot')
  await ada.must('agent', 'create', 'x $(touch run) y')
})
afterAll(() => {
  ada.remove()
})

const complete = async (words: readonly string[], env: Record<string, string> = {}) => {
  const { code, out, err } = await ada.run(['__complete', ...words], { env })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const lines = out.trimEnd().split('\n')
  return { words: lines.slice(0, -1).map((line) => line.split('\t')[0]), shell: lines.at(-1) }
}
const wordsFor = async (...words: string[]) => (await complete(words)).words

describe('completion', () => {
  test('completion offers commands, and commands of a group, with their purpose', async () => {
    expect(await wordsFor('sec')).toEqual(['secrets'])
    expect(await wordsFor('lo')).toEqual(['login', 'logout', 'lock'])
    expect(await wordsFor('secrets', 'pu')).toEqual(['pull', 'push'])
    const { out } = await ada.run(['__complete', 'secrets', 'pul'])
    expect(out).toBe('pull\tprint all values or write them to a file\n:done\n')
  })

  test('completion offers options of the command and global ones', async () => {
    expect(await wordsFor('secrets', 'pull', '--fo')).toEqual(['--format', '--force'])
    expect(await wordsFor('secrets', 'pull', '--en')).toEqual(['--env'])
    expect(await wordsFor('secrets', 'pull', '--format', 'j')).toEqual(['json'])
    expect(await wordsFor('secrets', 'pull', '--format=j')).toEqual(['--format=json'])
    expect(await wordsFor('secrets', 'pull', '--format', '=', 'j')).toEqual(['json'])
  })

  test('completion offers projects, environments, secrets and agents by name', async () => {
    expect(await wordsFor('project', 'use', 'pay')).toEqual(['payments'])
    expect(await wordsFor('-p', 'pay')).toEqual(['payments'])
    expect(await wordsFor('inject', '--from', 'pay')).toEqual(['payments/'])
    expect(await wordsFor('env', 'use', 's')).toEqual(['staging'])
    expect(await wordsFor('run', '-e', 'st')).toEqual(['staging'])
    expect(await wordsFor('secrets', 'get', 'S')).toEqual(['STRIPE_KEY', 'STRIPE_URL'])
    expect(await wordsFor('secrets', 'rm', 'OTHER', 'STRIPE_K')).toEqual(['STRIPE_KEY'])
    expect(await wordsFor('secrets', 'get', '-e', 'staging', '')).toEqual(['ONLY_THERE'])
    expect(await wordsFor('agent', 'delete', '')).toEqual(['deploy-bot', 'x $(touch run) y'])
    expect(await wordsFor('proxy', '--agent', 'd')).toEqual(['deploy-bot'])
    expect(await complete(['secrets', 'set', 'OTH'])).toEqual({ words: ['OTHER='], shell: ':more' })
  })

  test('completion leaves files and programs to the shell', async () => {
    expect(await complete(['secrets', 'push', ''])).toEqual({ words: [], shell: ':files' })
    expect(await complete(['run', '--', 'l'])).toEqual({ words: [], shell: ':commands' })
    expect(await complete(['run', '--', 'ls', ''])).toEqual({ words: [], shell: ':files' })
    expect(await complete(['run', 'ls', '-'])).toEqual({ words: [], shell: ':files' })
    expect(await complete(['nonsense', ''])).toMatchObject({ shell: ':done' })
  })

  test('completion uses remembered names, without a server or a passphrase', async () => {
    await wordsFor('secrets', 'get', '')
    const gone = { XDG_CONFIG_HOME: join(ada.home, 'nothing') }
    expect((await complete(['secrets', 'get', 'S'], gone)).words).toEqual([
      'STRIPE_KEY',
      'STRIPE_URL',
    ])
    const elsewhere = { SERVICE_SERVER_URL: 'http://127.0.0.1:1' }
    expect(await complete(['secrets', 'get', 'S'], elsewhere)).toEqual({
      words: [],
      shell: ':done',
    })
  })

  test('completion offers a secret that was just created, and not one that was just deleted', async () => {
    await ada.must('secrets', 'set', 'STRIPE_NEW=one')
    expect(await wordsFor('secrets', 'get', 'STRIPE_N')).toEqual(['STRIPE_NEW'])
    await ada.must('secrets', 'delete', 'STRIPE_NEW', '--yes')
    expect(await wordsFor('secrets', 'get', 'STRIPE_N')).toEqual([])
  })

  test("names are only in the completion's own file, which logging out removes", async () => {
    const file = join(ada.home, '.cache', 'cloakroom', 'names.json')
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('STRIPE_KEY')
    expect(Object.keys(JSON.parse(text)).every((key) => key.startsWith(app.controlPlane))).toBe(
      true,
    )
  })
})

test('every argument and option that names something is completed', () => {
  const specs = [...topLevel, ...groups.flatMap(({ commands }) => commands)]
  const named = specs.flatMap(({ usage, options }) => [
    ...usage.split(' ').slice(1),
    ...options.flatMap(([flags, about]) => flagOf(flags, about).placeholder ?? []),
  ])
  const words = new Set(named.map((word) => word.replace(/[<>[\].]/g, '')))
  const unknown = [...words].filter(
    (word) => !Object.hasOwn(sources, word) && !ONLY_A_PERSON_KNOWS.has(word),
  )
  expect(unknown).toEqual([])
})

const ONLY_A_PERSON_KNOWS = new Set([
  'size',
  'request',
  'proposal',
  'recipient',
  'operation',
  'target',
  'fingerprint',
  'id',
  'scope',
  'duration',
  ...[
    'action',
    'code',
    'count',
    'days',
    'domain',
    'domains',
    'email',
    'emails',
    'ids',
    'json',
    'milliseconds',
    'label',
  ],
  ...[
    'header',
    'line',
    'name',
    'prefix',
    'template',
    'number',
    'record',
    'status',
    'text',
    'time',
    'token',
    'url',
    'value',
    'version',
  ],
])

/** Installs the script the way its documentation describes; the prompt shows that the shell is ready. */
const starts: Record<
  (typeof shells)[number],
  { file: string; rc: [string, string]; args: string[] }
> = {
  bash: {
    file: 'cloakroom.bash',
    rc: ['.bashrc', 'source ~/cloakroom.bash\nPS1="ready> "\n'],
    args: [],
  },
  zsh: {
    file: 'site/_cloakroom',
    rc: ['.zshrc', 'fpath=(~/site $fpath)\nautoload -Uz compinit && compinit -u\nPS1="ready> "\n'],
    args: [],
  },
  fish: {
    file: '.config/fish/completions/cloakroom.fish',
    rc: [
      '.config/fish/config.fish',
      'function fish_prompt; echo "ready> "; end\nset -g fish_greeting\n',
    ],
    args: ['--interactive'],
  },
}

/** Without this folder, fish reads every manual page of the machine in the background: 20 s of processor time. */
const FISH_MANUALS = '.local/share/fish/generated_completions'

/** Types a line with TAB into a new shell, and returns the arguments that the program then received. */
async function tabbed(
  shell: (typeof shells)[number],
  typed: string,
  marker: string,
): Promise<string> {
  const { file, rc, args } = starts[shell]
  for (const [name, text] of [[file, await ada.must('completion', shell)], rc] as const) {
    mkdirSync(dirname(join(ada.home, name)), { recursive: true })
    writeFileSync(join(ada.home, name), text)
  }
  mkdirSync(join(ada.home, FISH_MANUALS), { recursive: true })
  let screen = ''
  const steps = [
    { when: 'ready> ', type: `${typed}\t` },
    { when: marker, type: '\r' },
  ]
  const done = Promise.withResolvers<void>()
  const child = watched(
    Bun.spawn([shell, ...args], {
      cwd: ada.cwd,
      env: {
        PATH: `${dirname(await executable())}:${process.env.PATH}`,
        HOME: ada.home,
        TERM: 'xterm-256color',
        SERVICE_SERVER_URL: app.controlPlane,
      },
      terminal: {
        cols: 200,
        rows: 40,
        data: (terminal, data) => {
          screen += new TextDecoder().decode(data)
          const [step] = steps
          if (step && screen.includes(step.when)) terminal.write(steps.shift()?.type ?? '')
          if (/Using environment|LABEL +STATUS|cloakroom: /.test(screen)) done.resolve()
        },
      },
    }),
  )
  // The longest wait, not a pause: a shell that never answers must not block the run.
  await Promise.race([done.promise, child.exited, Bun.sleep(20_000)])
  child.kill('SIGKILL')
  search('output', `a terminal with ${shell}`, screen)
  return screen
}

const present = shells.filter((shell) => Bun.which(shell) !== null)

describe.each(present)('in %s', (shell) => {
  test('the first TAB of a new shell completes an environment name', async () => {
    const screen = await tabbed(shell, 'cloakroom env use stag', 'staging')
    expect(screen).toContain('Using environment staging')
  })

  test('a completed name is quoted so that no part of it is executed', async () => {
    const screen = await tabbed(shell, 'cloakroom token list x', 'run\\)')
    expect(screen).toContain('LABEL')
    expect(await Bun.file(join(ada.cwd, 'run')).exists()).toBe(false)
  })
})
