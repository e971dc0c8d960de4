// tier: quick
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { Registry } from 'prom-client'
import { documentConfig } from '../../src/core/config/config.ts'
import { openGauges } from '../../src/features/metrics/gauges.ts'
import { openInstruments } from '../../src/features/metrics/instruments.ts'
import { textOf } from './documents.ts'

const page = textOf('docs/guides/self-hosting.md')

test('the table of settings is the one that the declaration prints', () => {
  const [, table] = /<!-- settings -->\n(.*?)\n<!-- \/settings -->/s.exec(page) ?? []
  expect(table).toBe(documentConfig())
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
