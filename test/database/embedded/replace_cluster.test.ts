// tier: quick
/** A database directory is replaced with two renames, and a kill between them loses neither version. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  finishReplacement,
  replaceCluster,
} from '../../../src/database/embedded/replace_cluster.ts'

const NOW = new Date('2026-11-23T00:40:00Z')
const KEPT = 'postgres.before-2026-11-23T00-40-00-000Z'
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cr-replace-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function cluster(name: string, content: string): string {
  mkdirSync(join(root, name))
  writeFileSync(join(root, name, 'PG_VERSION'), content)
  return join(root, name)
}

const contentOf = (name: string) => readFileSync(join(root, name, 'PG_VERSION'), 'utf8')

test('the new cluster is in place and the old one is kept beside it', () => {
  cluster('postgres', 'old')
  const staged = cluster('staged', 'new')
  expect(replaceCluster(root, staged, { cluster: 'postgres', now: NOW })).toBe(join(root, KEPT))
  expect([contentOf('postgres'), contentOf(KEPT)]).toEqual(['new', 'old'])
})

test('no old cluster is kept if there was none', () => {
  const staged = cluster('staged', 'new')
  expect(replaceCluster(root, staged, { cluster: 'postgres', now: NOW })).toBeNull()
  expect(contentOf('postgres')).toBe('new')
})

test('a kill before the old cluster is moved keeps the old cluster', () => {
  cluster('postgres', 'old')
  cluster('postgres.restored', 'new')
  finishReplacement(root, 'postgres')
  expect(contentOf('postgres')).toBe('old')
  expect(existsSync(join(root, 'postgres.restored'))).toBeFalse()
})

test('a kill after the old cluster is moved puts the new cluster in place', () => {
  cluster(KEPT, 'old')
  cluster('postgres.restored', 'new')
  finishReplacement(root, 'postgres')
  expect([contentOf('postgres'), contentOf(KEPT)]).toEqual(['new', 'old'])
})
