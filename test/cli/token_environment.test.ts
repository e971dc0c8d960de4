// tier: quick
/** The environment of a token, compared with one from the project file, a variable or a flag. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshEmail, sharedApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

let ada: Terminal
const tokens = { workload: '', agent: '' }
const value = 'of production'

beforeAll(async () => {
  ada = await openAccount(await sharedApp(), freshEmail('ada'))
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `NAME=${value}`, '-e', 'production')
  await ada.must('secrets', 'set', 'NAME=of development', 'OTHER=x', '-e', 'development')
  const issue = (...args: string[]) => ada.must(...args, '-e', 'production', '-q')
  tokens.workload = (await issue('workload-token', 'issue', 'ci')).trim()
  tokens.agent = (await issue('agent', 'create', 'bot', '--may', 'use,read')).trim()
  const file = join(ada.cwd, '.cloakroom.json')
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...settings, environment: 'development' }))
  writeFileSync(join(ada.cwd, 'template'), '{{ NAME }}')
})
afterAll(() => ada.remove())

const commands = [
  ['secrets', 'get', 'NAME'],
  ['secrets', 'pull'],
  ['secrets', 'list'],
  ['run', '--no-mask', '--', 'printenv', 'NAME'],
  ['inject', '-i', 'template'],
]
const kinds = ['workload', 'agent'] as const

test.each(kinds)(
  'the environment of one %s token wins over that of the project file',
  async (kind) => {
    for (const command of commands) {
      const { code, out, err } = await ada.run(command, { env: { SERVICE_TOKEN: tokens[kind] } })
      expect({ command, code }).toEqual({ command, code: 0 })
      expect(out).not.toContain('OTHER')
      expect(out).toContain(command[1] === 'list' ? 'NAME' : value)
      expect(err).toContain(
        'the token is for production, so development of the project file is not used',
      )
    }
  },
)

test.each(kinds)(
  'one %s token is rejected for another environment that a flag or variable names',
  async (kind) => {
    for (const command of commands.filter(([, verb]) => verb !== 'list')) {
      const env = { SERVICE_TOKEN: tokens[kind] }
      const [head = '', ...rest] = command
      const byFlag = await ada.run([head, '-e', 'development', ...rest], { env })
      const byVariable = await ada.run(command, {
        env: { ...env, SERVICE_ENVIRONMENT: 'development' },
      })
      for (const { code, err } of [byFlag, byVariable]) {
        expect({ command, code }).not.toEqual({ command, code: 0 })
        expect(err).toContain('The token is for the environment production only.')
      }
    }
  },
)
