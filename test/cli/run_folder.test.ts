// tier: quick
/** Two parallel proxies share no file that programs read, and leave no file behind. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRunFolder } from '../../src/cli/files/run_folder.ts'
import { freshEmail, sharedApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { openAccount, type Terminal } from './person.ts'

let ada: Terminal
let folder: string
beforeAll(async () => {
  ada = await openAccount(await sharedApp(), freshEmail())
  await ada.must('init', 'payments')
  folder = mkdtempSync(join(tmpdir(), 'cr-runs-'))
})
afterAll(() => {
  ada.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** Every file of the proxy that a variable of its command names, with its content. */
function filesIn(variables: string): Map<string, string> {
  const own = join(ada.home, '.config/cloakroom/proxy/')
  const paths = variables.match(new RegExp(`${own}[^\\s:"']+`, 'g')) ?? []
  const files = paths.flatMap((path) =>
    path.endsWith('/php') ? readdirSync(path).map((name) => join(path, name)) : [path],
  )
  return new Map([...new Set(files)].map((path) => [path, readFileSync(path, 'latin1')]))
}

test('two proxies with different authorities keep their own files, which are removed with them', async () => {
  const authority = join(ada.cwd, 'other.pem')
  writeFileSync(authority, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  const waiting = 'mkfifo gate && env > first.env && mv first.env first && read line < gate'
  const first = ada.run(['proxy', '--', 'sh', '-c', waiting])
  const path = join(ada.cwd, 'first')
  await until(() => existsSync(path))
  const filesOfFirst = filesIn(readFileSync(path, 'utf8'))
  const second = await ada.run(
    ['proxy', '--', 'sh', '-c', 'env > second; cp "$SSL_CERT_FILE" bundle'],
    { env: { SSL_CERT_FILE: authority } },
  )
  expect(second).toMatchObject({ code: 0 })
  expect([...filesOfFirst.keys()].map((name) => name.replace(/.*\//, '')).sort()).toEqual([
    'bundle.jks',
    'bundle.pem',
    'cloakroom.ini',
    'node_agents.cjs',
  ])
  expect(filesIn(readFileSync(path, 'utf8'))).toEqual(filesOfFirst)
  expect(readFileSync(join(ada.cwd, 'bundle'), 'utf8')).toContain('AAAA')
  const others = readFileSync(join(ada.cwd, 'second'), 'utf8')
  for (const name of filesOfFirst.keys()) expect(others).not.toContain(name)
  writeFileSync(join(ada.cwd, 'gate'), 'go\n')
  expect((await first).code).toBe(0)
  expect(readdirSync(join(ada.home, '.config/cloakroom/proxy/runs'))).toEqual([])
})

test('the folder of a killed run is removed by a later one, and that of a live run is not', () => {
  const live = openRunFolder(folder)
  const killed = join(folder, 'killed')
  const { path } = openRunFolder(killed)
  const later = () => Date.now() + 61_000
  const young = openRunFolder(folder)
  expect(existsSync(path)).toBe(true)
  const last = openRunFolder(folder, later)
  expect([live, young, last].map((run) => existsSync(run.path))).toEqual([true, true, true])
  expect(existsSync(killed)).toBe(false)
  for (const run of [live, young, last]) run.remove()
  expect(readdirSync(folder)).toEqual([])
})
