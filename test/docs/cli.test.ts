import { afterAll, beforeAll, expect, test } from 'bun:test'
import { groups, topLevel } from '../../src/cli/catalogue/index.ts'
import { openTerminal, type Run, type Terminal } from '../cli/person.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

const read = (name: string) => Bun.file(`${import.meta.dir}/../../docs/${name}`).text()

let app: TestApp
let person: Terminal

beforeAll(async () => {
  app = await startTestApp()
  person = await openTerminal(app)
})
afterAll(async () => {
  person.remove()
  await app.stop()
})

/** Every line of the tour as typed, with the program on the path. */
test('the tour of the command line works line by line', async () => {
  const [, tour = ''] = /```sh tour\n(.*?)```/s.exec(await read('cli.md')) ?? []
  const lines = tour.trim().split('\n')
  expect(lines.length).toBeGreaterThan(8)
  person.write('password.txt', 'a long passphrase that stays here\n')
  person.write('.env', 'FROM_FILE=1\n')
  const env = { SERVICE_PASSPHRASE: 'of this machine' }
  for (const line of lines) {
    const ran: Run = await person.shell(line, env)
    expect({ line, code: ran.code, err: ran.code === 0 ? '' : ran.err }).toEqual({
      line,
      code: 0,
      err: '',
    })
  }
})

test('the configurations for agents are acceptable JSON', async () => {
  const blocks = [...(await read('agents.md')).matchAll(/```json\n(.*?)```/gs)].map(
    ([, text = '']) => JSON.parse(text),
  )
  expect(blocks.map((block) => Object.values(block.mcpServers ?? block.servers)[0])).toEqual([
    expect.objectContaining({ command: 'cloakroom', args: ['mcp'] }),
    expect.objectContaining({ command: 'cloakroom', args: ['mcp'] }),
  ])
})

test('every command has help with examples that begin with its own name', () => {
  const all = [
    ...topLevel.map((spec) => ({ spec, prefix: '' })),
    ...groups.flatMap(({ name, commands }) =>
      commands.map((spec) => ({ spec, prefix: `${name} ` })),
    ),
  ]
  for (const { spec, prefix } of all) {
    const name = `${prefix}${spec.usage.split(' ')[0]}`
    expect({
      name,
      examples: spec.examples.filter((example) => example.startsWith(name)).length,
    }).toEqual({
      name,
      examples: spec.examples.length,
    })
    expect(spec.examples.length).toBeGreaterThan(0)
  }
})
