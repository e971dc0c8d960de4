// tier: all
/** Clients that generators make from the OpenAPI document can be used unchanged. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { otherPackages, otherPython } from '../support/other_programs.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import { openContractStage } from './stage.ts'

const stage = await openContractStage()
afterAll(stage.stop)
const { server, customer, agent, upstream, directory } = stage

const documentPath = join(directory, 'openapi.json')
await Bun.write(documentPath, await fetch(`${server.controlPlane}/api/docs/json`))

const expected = [['api'], ['MODE', 'STRIPE_API_KEY'], 200, 'domain_blocked', 200]

async function run(command: string[]): Promise<string> {
  const program = watched(Bun.spawn(command, { cwd: directory, stdout: 'pipe', stderr: 'pipe' }))
  const [out, err] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  expect({ code: await program.exited, out, err }).toMatchObject({ code: 0 })
  return out
}

/** The program's output, a line of JSON for each call. */
async function use(command: string[]): Promise<unknown[]> {
  const { controlPlane, resolver } = server
  const out = await run([
    ...command,
    controlPlane,
    resolver,
    customer.access,
    agent.token,
    upstream,
  ])
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

requires('python-venv').test(
  'a generated client of Python works (openapi-python-client)',
  async () => {
    const python = await otherPython()
    const generator = 'from openapi_python_client.cli import app; app()'
    const made = join(directory, 'made')
    await run([
      ...[python, '-c', generator, 'generate', '--path', documentPath],
      ...['--output-path', made, '--meta', 'none'],
    ])
    const forward = join(made, 'api', 'resolver', 'resolver_forward_post.py')
    expect(existsSync(forward)).toBe(true)
    expect(await use([python, join(import.meta.dir, 'generated_client.py'), directory])).toEqual(
      expected,
    )
  },
)

test('a generated TypeScript client calls the API, and its types match (@hey-api/openapi-ts)', async () => {
  const folder = await otherPackages()
  const made = join(directory, 'client')
  const generator = join(folder, '@hey-api', 'openapi-ts', 'bin', 'run.js')
  await run([process.execPath, generator, '-i', documentPath, '-o', made])
  const tsc = join(folder, 'typescript', 'bin', 'tsc')
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext']
  const modules = ['--module', 'esnext', '--moduleResolution', 'bundler']
  await run([process.execPath, tsc, ...strict, ...modules, join(made, 'index.ts')])
  const program = join(import.meta.dir, 'child.ts')
  expect(await use([process.execPath, program, join(made, 'index.ts')])).toEqual(expected)
})
