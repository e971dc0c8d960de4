// tier: all
/** Upgrades an older version's database with the commands of docs/guides/upgrade.md. */
import { afterAll, expect, test } from 'bun:test'
import { lstatSync, symlinkSync } from 'node:fs'
import { freePort } from '../bench/processes.ts'
import { executable } from '../binary/executable.ts'
import type { TestDatabase } from '../support/database.ts'
import { readFixture } from '../upgrade/fixture.ts'
import { restored } from '../upgrade/restored.ts'
import { scriptOf } from './blocks.ts'
import { type Machine, openMachine } from './machine.ts'

let machine: Machine | undefined
let database: TestDatabase | undefined
afterAll(async () => {
  await machine?.remove()
  database?.remove()
})

test('the commands of the page check, install and start a new version', async () => {
  const fixture = readFixture('0016_refused_by')
  database = await restored(fixture)
  machine = await openMachine()
  const { at, must, run, writeUnit } = machine
  const ports = { PORT: `${freePort()}`, RESOLVER_PORT: `${freePort()}` }
  const settings = { ...fixture.keys, ...database.env, ...ports }
  writeUnit(settings)
  symlinkSync(await executable(), at('root/cloakroom'))

  const { code, out } = await run(scriptOf('docs/guides/upgrade.md', 'check'), settings)
  expect({ code, out }).toMatchObject({ code: 1 })
  const printed = scriptOf('docs/guides/upgrade.md', 'printed').split('\n')
  const lines = printed.filter((line) => /^ +001[78]_|^backup|^WARNING/.test(line))
  expect(lines).toHaveLength(4)
  expect(out.split('\n')).toEqual(expect.arrayContaining(lines))

  await must(scriptOf('docs/guides/upgrade.md', 'install'))
  const installed = lstatSync(at('usr/local/bin/cloakroom'))
  expect([installed.isFile(), installed.mode & 0o777]).toEqual([true, 0o755])
  expect(machine.log()).toContain('"message":"migrated"')
  const health = await must(scriptOf('docs/guides/upgrade.md', 'health'), settings)
  expect(health).toMatch(/^control plane +healthy\nresolver +healthy\n$/)
}, 120_000)
