// tier: all
/**
 * The documented command lines, typed into a shell as the documents have them, with the compiled program. The
 * passphrase of a machine costs 0.3 s in each command.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { toolNames } from '../../src/cli/agent_setup/tools.ts'
import { openTerminal, type Run, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'

const read = (name: string) => Bun.file(`${import.meta.dir}/../../docs/${name}`).text()

const PASSPHRASE = { SERVICE_PASSPHRASE: 'of this machine' }

let app: TestApp
let person: Terminal

beforeAll(async () => {
  app = await sharedApp()
  person = await openTerminal(app)
})
afterAll(() => {
  person.remove()
})

/** Every line as typed, with the program on the path. */
async function typeLines(blocks: readonly string[]): Promise<void> {
  for (const line of blocks.flatMap((block) => block.trim().split('\n'))) {
    const ran: Run = await person.shell(line, PASSPHRASE)
    expect({ line, code: ran.code, err: ran.code === 0 ? '' : ran.err }).toEqual({
      line,
      code: 0,
      err: '',
    })
  }
}

const blocksOf = async (kind: string) =>
  [
    ...(await read('reference/cli.md')).matchAll(
      new RegExp(`\`\`\`sh ${kind}\\n(.*?)\`\`\``, 'gs'),
    ),
  ].map(([, text = '']) => text)

test('the tour of the command line works line by line', async () => {
  const [tour = ''] = await blocksOf('tour')
  expect(tour.split('\n').length).toBeGreaterThan(8)
  person.write('password.txt', 'a long passphrase that stays here\n')
  person.write('.env', 'FROM_FILE=1\n')
  await typeLines([tour])
})

test('after it, the examples of environments, policies and tokens work', async () => {
  const blocks = await blocksOf('words')
  expect(blocks).toHaveLength(3)
  await typeLines(blocks)
})

test('the first commands of agents.md start a program with a stand-in for the token', async () => {
  const [, block = ''] = /```sh start\n(.*?)```/s.exec(await read('guides/agents.md')) ?? []
  const [set = '', allow = '', start = ''] = block.split('\n').map((line) => line.split(' #')[0])
  const token = marked('ghp_0123456789abcdef')
  person.write('token.txt', token)
  // Replaces Claude Code.
  person.write('claude', '#!/bin/sh\nprintf %s "$GITHUB_TOKEN"\n')
  await typeLines([`${set} --stdin < token.txt`, allow, 'chmod +x claude'])
  const { code, out } = await person.shell(`PATH="$PWD:$PATH"; ${start}`, PASSPHRASE)
  expect(code).toBe(0)
  expect(out).toHaveLength(token.length)
  expect(out).not.toBe(token)
})

test('the settings files in agents.md are what agent setup writes', async () => {
  const blocks = [
    ...(await read('guides/agents.md')).matchAll(/```(?:json|toml) ([\w -]+)\n(.*?)```/gs),
  ]
  const shown = blocks.flatMap(([, names = '', text = '']) =>
    names.split(' ').map((name) => ({ name, text })),
  )
  expect(shown.map(({ name }) => name).sort()).toEqual(toolNames.toSorted())
  for (const { name, text } of shown) {
    const line = `cloakroom agent setup ${name} --agent deploy-bot --print`
    expect({ name, text }).toEqual({ name, text: (await person.shell(line, PASSPHRASE)).out })
  }
})
