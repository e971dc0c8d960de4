// tier: quick
/** The files in which this machine stores workspaces, written by several commands at the same time. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  openKnownChains,
  openKnownNames,
  openKnownWorkspaceKeys,
} from '../../src/cli/trust/known.ts'
import { openKnownDeliveries } from '../../src/cli/trust/known_deliveries.ts'
import { openTrustedFolders } from '../../src/cli/trust/trusted_folders.ts'
import { watched } from '../support/watched.ts'

const home = mkdtempSync(join(tmpdir(), 'cr-known-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const env = { HOME: home, XDG_CONFIG_HOME: home }
const server = 'https://one.example'
const account = { server, email: 'ada@example.com' }
const trust = resolve(import.meta.dir, '../../src/cli/trust')

/** A process that stores `rounds` separate workspaces in all three files. */
function remembering(own: string, rounds: number) {
  const text = `
    const { openKnownChains, openKnownNames, openKnownWorkspaceKeys } = await import('${trust}/known.ts')
    for (let round = 0; round < ${rounds}; round += 1) {
      const id = '${own}-' + round
      const known = { first: id, seq: 1, head: id, epoch: 1, keyCommitment: id }
      openKnownChains(process.env, '${server}').remember(id, known)
      openKnownNames(process.env, '${server}').learn('workspaces of a', [{ id, name: id }])
      const workspace = { id: '0190c3a5-7b3e-7d2f-a1c4-' + id.padStart(12, '0').replace('-', '0'), name: id, epoch: 1, key: new Uint8Array(32) }
      openKnownWorkspaceKeys(process.env, ${JSON.stringify(account)}, () => {}).check(workspace)
    }`
  return watched(
    Bun.spawn([process.execPath, '-e', text], {
      env: { ...env, PATH: process.env.PATH ?? '' },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
}

test('parallel commands lose no stored entry', async () => {
  const [processes, rounds] = [6, 8]
  const running = Array.from({ length: processes }, (_, at) => remembering(String(at), rounds))
  const ends = running.map(async (each) => [
    await each.exited,
    await new Response(each.stderr).text(),
  ])
  expect(await Promise.all(ends)).toEqual(Array(processes).fill([0, '']))
  const chains = openKnownChains(env, server)
  const names = openKnownNames(env, server)
  const keys = openKnownWorkspaceKeys(env, account, () => {})
  for (let at = 0; at < processes; at += 1)
    for (let round = 0; round < rounds; round += 1) {
      const id = `${at}-${round}`
      const uuid = `0190c3a5-7b3e-7d2f-a1c4-${id.padStart(12, '0').replace('-', '0')}`
      expect([chains.of(id)?.first, names.idsOf('workspaces of a', id)]).toEqual([id, [id]])
      expect(keys.of(uuid)?.epoch).toBe(1)
    }
  expect(readdirSync(join(home, 'cloakroom')).sort()).toEqual(
    ['chains.json', 'known_names.json', 'workspace_keys.json']
      .flatMap((name) => [name, `${name}.lock`])
      .sort(),
  )
})

test('names of built-in object properties are stored like any other name', () => {
  const names = openKnownNames(env, 'https://two.example')
  for (const name of ['constructor', '__proto__', 'toString', '']) {
    expect(names.idsOf('projects of w', name)).toEqual([])
    names.learn('projects of w', [{ id: 'one', name }])
    names.learn('projects of w', [{ id: 'two', name }])
    expect(names.idsOf('projects of w', name)).toEqual(['one'])
  }
})

test('files of older versions, with names in them, are read and continued', () => {
  const write = (name: string, content: unknown) =>
    writeFileSync(join(home, 'cloakroom', name), JSON.stringify(content))
  const chain = { first: 'f', seq: 2, head: 'h', epoch: 1, keyCommitment: 'c' }
  write('chains.json', { [server]: { w: { ...chain, names: ['live'], manifests: {} } } })
  write('workspace_keys.json', {
    [`${server} ada@example.com`]: { w: { epoch: 1, commitment: 'c', name: 'live' } },
  })
  const chains = openKnownChains(env, server)
  chains.remember('w', { ...chain, seq: 3, head: 'i' })
  expect(chains.of('w')).toMatchObject({ seq: 3, head: 'i' })
  expect(openKnownWorkspaceKeys(env, account, () => {}).of('w')?.commitment).toBe('c')
})

test('every section of the store reads and continues the file that earlier versions wrote', () => {
  const write = (name: string, content: unknown) =>
    writeFileSync(join(home, 'cloakroom', name), JSON.stringify(content))
  write('known_names.json', { [server]: { 'projects of w': [{ name: 'shop', ids: ['one'] }] } })
  const manifest = { revision: 4, root: 'r', headSeq: 2 }
  write('deliveries.json', { token: { seq: 2, head: 'h', manifests: { 'one staging': manifest } } })
  const folder = realpathSync(home)
  write('trusted.json', { [folder]: { server: [server], resolver: [] } })

  const names = openKnownNames(env, server)
  names.learn('projects of w', [{ id: 'two', name: 'shop' }])
  expect(names.idsOf('projects of w', 'shop')).toEqual(['one'])
  const place = { projectId: 'one', environment: 'staging' }
  const deliveries = openKnownDeliveries(env, 'token')
  expect(deliveries.of(place)).toMatchObject({ seq: 2, ...manifest })
  deliveries.remember(place, { seq: 3, head: 'i', ...manifest, revision: 5 })
  expect(openKnownDeliveries(env, 'token').of(place)).toMatchObject({ seq: 3, revision: 5 })
  const folders = openTrustedFolders(env)
  folders.add(home, { resolver: 'https://two.example' })
  expect(folders.includes(home, 'server', server)).toBe(true)
  expect(folders.includes(home, 'resolver', 'https://two.example')).toBe(true)
  expect([folders.remove(home), folders.remove(home)]).toEqual([true, false])
})
