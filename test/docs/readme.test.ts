// tier: all
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { topLevel } from '../cli/every_command.ts'
import { requires } from '../support/requires.ts'
import { blocksOf, scriptOf } from './blocks.ts'
import { textOf } from './documents.ts'
import { takeTour } from './tour.ts'

const ROOT = join(import.meta.dir, '..', '..')
const readme = textOf('README.md')

requires('bash', 'curl').test(
  'every command of the README works as it is printed, and the answer is the printed one',
  async () => {
    const { shown, answers, key } = await takeTour('README.md')
    const echoed = scriptOf('README.md', 'echo')
    const call = answers.find(({ line }) => line.startsWith('cloakroom call'))
    expect(jsonIn(call?.screen ?? '')).toEqual(JSON.parse(echoed))
    const fingerprint = createHash('sha256').update(key).digest('hex').slice(0, 8)
    const masked = `Bearer ******** (${key.length} characters, SHA-256 ${fingerprint}…)`
    expect(shown.split(masked)).toHaveLength(2)
    expect(answers.map(({ screen }) => screen).join('')).not.toContain('svc_agt_')
  },
  120_000,
)

requires('bash').test(
  'the page about the first call works from the first to the last line, as it is printed',
  async () => {
    const page = 'docs/start/first-call.md'
    const { shown, answers } = await takeTour('docs/start/first-call.md')
    const echoed = scriptOf('docs/start/first-call.md', 'echo')
    const call = answers.find(({ line }) => line.startsWith('cloakroom call'))
    expect(jsonIn(call?.screen ?? '')).toMatchObject(JSON.parse(echoed))
    const printed = blocksOf(page).filter(
      ({ language, name }) => language === 'text' && name !== '',
    )
    expect(printed).toHaveLength(2)
    const lines = printed.flatMap(({ text }) => shapeOf(text).trimEnd().split('\n'))
    // The echo API's own line is on standard error.
    for (const line of lines.filter((text) => !text.startsWith('The echo API')))
      expect(shapeOf(shown).split('\n')).toContain(line)
  },
  120_000,
)

/** The text without addresses, numbers and fingerprints, which differ each time. */
function shapeOf(text: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, 'address')
    .replace(/\d+ characters/, 'characters')
    .replace(/SHA-256 [\da-f]*…?/g, 'SHA-256')
}

function jsonIn(screen: string): unknown {
  return JSON.parse(/^\{.*\}/m.exec(screen)?.[0] ?? 'null')
}

test('every script and command that the README or CONTRIBUTING names exists', async () => {
  const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
  const named = `${readme}${textOf('CONTRIBUTING.md')}`.matchAll(/bun(?:@[\d.]+)? run ([\w:-]+)/g)
  for (const [, name = ''] of named) expect(Object.keys(scripts)).toContain(name)
  const known = [
    'help',
    'keygen',
    'settings',
    'serve',
    'secrets',
    'allowlist',
    'agent',
    'audit',
    ...topLevel.map(({ usage }) => usage.split(' ')[0]),
  ]
  for (const [, name = ''] of readme.matchAll(/(?:^|`)cloakroom ([a-z-]+)/gm))
    expect(known).toContain(name)
})
