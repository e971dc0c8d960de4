// tier: quick
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import { Registry } from 'prom-client'
import { describeConfig } from '../../src/core/config/config.ts'
import { groupSettings } from '../../src/core/config/groups.ts'
import { renderSettingsDocs, SETTINGS_DOCS } from '../../src/dev/settings_docs.ts'
import { openGauges } from '../../src/features/metrics/gauges.ts'
import { openInstruments } from '../../src/features/metrics/instruments.ts'
import { documents, ROOT, textOf } from './documents.ts'

test('docs/reference/settings.md is what the declarations contain (bun src/dev/settings_docs.ts writes it)', async () => {
  expect(await Bun.file(SETTINGS_DOCS).text()).toBe(renderSettingsDocs())
})

test('every setting is in one group of the documentation, with its values or an example', () => {
  const all = describeConfig()
  const grouped = groupSettings(all).flatMap(({ settings }) => settings.map(({ name }) => name))
  expect(grouped.sort()).toEqual(all.map(({ name }) => name).sort())
  const valuesOf = (name: string) => all.find((setting) => setting.name === name)?.values
  expect(valuesOf('ROLE')).toBe('`all`, `control-plane`, `resolver`')
  expect(valuesOf('DRAIN_SECONDS')).toBe('seconds from 0 to 300')
  expect(valuesOf('QUOTA_AGENTS')).toBe('from 1 to 1000000')
  expect(valuesOf('DATA_DIR')).toBe('')
})

test('docs/guides/monitoring.md lists every metric, and no other', () => {
  const registry = new Registry()
  const cache = { stats: { hits: 0, misses: 0, entries: 0 } }
  const trail = { depth: { entries: 0, outcomes: 0 } }
  openInstruments(registry)
  const caches = { tokens: cache, snapshots: cache, keys: cache }
  openGauges(registry, { sql: postgres(), trail, ...caches, refusals: { count: 0 } })
  const families = registry.getMetricsAsArray().map(({ name }) => name)
  const ours = families.filter((name) => name.startsWith('cloakroom_'))
  const monitoring = textOf('docs/guides/monitoring.md')
  const listed = [...monitoring.matchAll(/`(cloakroom_\w+)/g)].map(([, name = '']) => name)
  expect(ours.length).toBeGreaterThan(10)
  expect(new Set(listed)).toEqual(new Set(ours))
})

test('every log message that a guide quotes exists in the source', async () => {
  const files = [...new Bun.Glob('src/**/*.ts').scanSync({ cwd: ROOT })]
  const sources = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()))
  const source = sources.join('\n')
  const command = /^(account|agent|alter|call|cloakroom|docker|gh|kubectl|mcp|secrets) /
  const quoted = documents
    .filter(({ path }) => path.startsWith('docs/guides/'))
    .flatMap(({ text }) => [...text.matchAll(/`([a-z][\w-]*(?: [\w-]+){2,})`/g)])
    .flatMap(([, words = '']) => (command.test(words) ? [] : [words]))
  expect(quoted.length).toBeGreaterThan(5)
  expect(quoted.filter((words) => !source.includes(words))).toEqual([])
})
