// tier: all
/** Ten clients that every test machine has, and the table of docs/reference/compatibility.md. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Need } from '../support/needs.ts'
import { otherPackages } from '../support/other_programs.ts'
import { requires } from '../support/requires.ts'
import type { Verdict } from './cell.ts'
import type { Cell, Client } from './client.ts'
import { generatedPart, readRows, renderRows, UNEXPLAINED } from './document.ts'
import { runClient } from './matrix.ts'
import { openStage, type Stage } from './stage.ts'
import { clients } from './table/index.ts'

const PROGRAMS = join(import.meta.dir, 'programs')
const program = (path: string) => join(PROGRAMS, path)

type Here = { needs: readonly Need[]; command: readonly string[] }
const run = (command: readonly string[], ...needs: Need[]): Here => ({ command, needs })
const onBun = (path: string) => run([process.execPath, program(path)])
const onNode = (path: string) => run(['node', program(path)], 'node')

/** The command that starts each client, from this repository's or Debian's packages. */
const here: Record<string, Here> = {
  curl: run(['bash', program('shell/curl.sh')], 'bash', 'curl'),
  git: run(['bash', program('shell/git.sh')], 'bash', 'git'),
  urllib: run(['/usr/bin/python3', '-B', program('python/urllib_.py')], 'python-requests'),
  requests: run(['/usr/bin/python3', '-B', program('python/requests_.py')], 'python-requests'),
  undici: onNode('node/undici.mjs'),
  'fetch of Bun': onBun('node/fetch.mjs'),
  '@anthropic-ai/sdk (Node.js)': onBun('node/anthropic.mjs'),
  '@octokit/rest (Node.js)': onBun('node/octokit.mjs'),
  'openai (Node.js)': onBun('node/openai.mjs'),
  'stripe (Node.js)': onBun('node/stripe.mjs'),
}

let stage: Stage
beforeAll(async () => {
  await otherPackages()
  stage = await openStage({ port: 0, searchesMemory: false })
})
afterAll(() => stage.close())

describe('the measured clients', () => {
  for (const [name, { needs, command }] of Object.entries(here))
    requires(...needs).test(`${name} does what the table describes`, async () => {
      const client = clients.find((one) => one.name === name)
      if (!client) throw new Error(`${name} is not in the table`)
      expect(wrongOf(client, await runClient(stage, client, command))).toEqual([])
    })
})

/** The cells that differ from the table. */
function wrongOf({ fails = {} }: Client, verdicts: ReadonlyMap<Cell, Verdict>): string[] {
  return [...verdicts].flatMap(([cell, verdict]) =>
    typeof verdict === 'object' && 'wrong' in verdict && fails[cell] === undefined
      ? [`${cell}: ${verdict.wrong}`]
      : [],
  )
}

describe('docs/reference/compatibility.md', () => {
  const rows = readRows(clients)

  test('the page has a row for each client, in the version that the table installs', () => {
    const missing = clients.filter((client) => !rows.has(client)).map(({ name }) => name)
    expect(missing).toEqual([])
  })

  test('the page explains each cell that does not pass', () => {
    const silent = [...rows.values()].filter(
      ({ forward, proxy, notes }) =>
        notes.includes(UNEXPLAINED) || ((forward + proxy).includes('✗') && notes === ''),
    )
    expect(silent).toEqual([])
  })

  test('the page has the notes of the table of clients', () => {
    const page = readFileSync(
      join(import.meta.dir, '../../docs/reference/compatibility.md'),
      'utf8',
    )
    expect(generatedPart(page)).toBe(renderRows(clients, rows))
  })
})
