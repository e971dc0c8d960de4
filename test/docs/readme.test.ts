// tier: all
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { topLevel } from '../cli/every_command.ts'
import { requires } from '../support/requires.ts'
import { textOf } from './documents.ts'
import { takeTour } from './tour.ts'

const ROOT = join(import.meta.dir, '..', '..')
const readme = textOf('README.md')

requires('bash', 'curl').test(
  'every command of the README works as it is printed, and the answer is the printed one',
  async () => {
    const { shown, answers, key } = await takeTour(readme)
    const [, echoed = ''] = /```json echo\n(.*?)```/s.exec(readme) ?? []
    const call = answers.find(({ line }) => line.startsWith('cloakroom call'))
    expect(jsonIn(call?.screen ?? '')).toEqual(JSON.parse(echoed))
    const fingerprint = createHash('sha256').update(key).digest('hex').slice(0, 8)
    const masked = `Bearer ******** (${key.length} characters, SHA-256 ${fingerprint}…)`
    expect(shown.split(masked)).toHaveLength(2)
    expect(answers.map(({ screen }) => screen).join('')).not.toContain('svc_agt_')
  },
  120_000,
)

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
