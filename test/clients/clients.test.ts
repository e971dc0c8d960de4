// tier: all
/** Ten clients of the matrix that every machine of the tests has, and what docs/compatibility.md says of all. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Verdict } from './cell.ts'
import type { Cell, Client } from './client.ts'
import { readRows, UNEXPLAINED } from './document.ts'
import { runClient } from './matrix.ts'
import { openStage, type Stage } from './stage.ts'
import { clients } from './table/index.ts'

const PROGRAMS = join(import.meta.dir, 'programs')
const program = (path: string) => join(PROGRAMS, path)

/** By name: how it is started where packages of this repository, or of Debian, are the installation. */
const here: Record<string, readonly string[]> = {
  curl: ['bash', program('shell/curl.sh')],
  git: ['bash', program('shell/git.sh')],
  urllib: ['/usr/bin/python3', '-B', program('python/urllib_.py')],
  requests: ['/usr/bin/python3', '-B', program('python/requests_.py')],
  undici: ['node', program('node/undici.mjs')],
  'fetch of Bun': [process.execPath, program('node/fetch.mjs')],
  '@anthropic-ai/sdk (Node.js)': [process.execPath, program('node/anthropic.mjs')],
  '@octokit/rest (Node.js)': [process.execPath, program('node/octokit.mjs')],
  'openai (Node.js)': [process.execPath, program('node/openai.mjs')],
  'stripe (Node.js)': [process.execPath, program('node/stripe.mjs')],
}

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ port: 0, searchesMemory: false })
})
afterAll(() => stage.close())

describe('of the matrix', () => {
  test.each(Object.entries(here))('%s does what the table says', async (name, command) => {
    const client = clients.find((one) => one.name === name)
    if (!client) throw new Error(`${name} is not in the table`)
    expect(wrongOf(client, await runClient(stage, client, command))).toEqual([])
  })
})

/** What is otherwise than the table says. */
function wrongOf({ fails = {} }: Client, verdicts: ReadonlyMap<Cell, Verdict>): string[] {
  return [...verdicts].flatMap(([cell, verdict]) =>
    typeof verdict === 'object' && 'wrong' in verdict && fails[cell] === undefined
      ? [`${cell}: ${verdict.wrong}`]
      : [],
  )
}

describe('docs/compatibility.md', () => {
  const rows = readRows(clients)

  test('has a row for each client, in the version that the table installs', () => {
    const missing = clients.filter((client) => !rows.has(client)).map(({ name }) => name)
    expect(missing).toEqual([])
  })

  test('explains each cell that does not pass', () => {
    const silent = [...rows.values()].filter(
      ({ forward, proxy, reasons }) =>
        reasons.includes(UNEXPLAINED) || (/[✗–]/.test(forward + proxy) && reasons === ''),
    )
    expect(silent).toEqual([])
  })
})
