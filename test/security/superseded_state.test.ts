// tier: quick, both databases in test:all
/**
 * An attacker writes to the database of a running process, which has itself stored a newer state: its acknowledged
 * changes persist, although the rows return to an older state before they were read, and although no row shows the
 * change.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeenStates } from '../../src/access/signed/seen_states.ts'
import { formatToken } from '../../src/core/crypto/token.ts'
import type { FaultCode } from '../../src/core/fault.ts'
import { issueWorkloadToken, revokeWorkloadToken } from '../../src/features/agents/contract.ts'
import { addToAllowlist, removeFromAllowlist } from '../../src/features/allowlist/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { openStage, resolveAs, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import {
  clientMade,
  manifestOf,
  mint,
  type SignedProject,
  signedProject,
} from '../support/statements.ts'

let directory: string
let file: string
let stage: Stage
let project: SignedProject
let host: string
let revision = 0

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cr-superseded-'))
  file = join(directory, 'signed_state.sqlite')
  stage = await openStage({ env: { SIGNED_STATE_FILE: file } })
  project = await signedProject(stage.app)
  host = stage.authorityOf()
  await allow(host)
  await allow('before.example')
}, 60_000)
afterAll(async () => {
  await stage.stop()
  rmSync(directory, { recursive: true })
})

const sql = () => stage.app.connection.sql
const inWorkspace = () => ({ workspace_id: project.workspaceId })
const inProject = () => ({ project_id: project.projectId })

const allowance = (domain: string) =>
  project.link('allowlist.changed', { add: [domain], remove: [] })

async function allow(domain: string): Promise<void> {
  const body = { domains: [domain], link: await allowance(domain) }
  await project.owner.api.call(addToAllowlist, { params: inWorkspace(), body })
}

async function disallow(domain: string): Promise<void> {
  const link = await project.link('allowlist.changed', { add: [], remove: [domain] })
  const params = { ...inWorkspace(), domain }
  await project.owner.api.call(removeFromAllowlist, { params, body: { link } })
}

async function store(value: string): Promise<void> {
  const secrets = { KEY: project.seal('KEY', value) }
  revision += 1
  const manifest = await manifestOf(project, secrets, revision)
  await project.owner.api.call(upsertSecrets, { body: { ...inProject(), secrets, manifest } })
}

async function issue(): Promise<{ id: string; text: string }> {
  const minted = mint()
  const token = await clientMade(project, minted, { label: minted.id })
  await project.owner.api.call(issueWorkloadToken, { params: inProject(), body: { token } })
  return { id: minted.id, text: formatToken('wkl', minted.id, minted.secret) }
}

const call = (token: string) =>
  resolveAs(stage.app.resolver, token, {
    target_url: stage.url('/charges'),
    headers: { authorization: 'Bearer SVC_SECRET_KEY' },
    ...inProject(),
    environment: 'development',
  })

async function expectSent(token: string, value: string): Promise<void> {
  expect(await call(token)).toMatchObject({ status: 200, body: { status_code: 200 } })
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${value}`)
}

async function expectNotSent(token: string, code: FaultCode): Promise<void> {
  const { bytes } = stage.upstream
  expect(await call(token)).toMatchObject({ body: { error_code: code } })
  expect(stage.upstream.bytes).toBe(bytes)
}

type Row = Record<string, string | number | Uint8Array | null>

/** The newest link is removed from the rows. The returned function restores it. */
async function cutOff(): Promise<() => Promise<void>> {
  const { workspaceId } = project
  const { seq } = await project.chain()
  const [row = {}] = await sql()<Row[]>`
    delete from workspace_links where workspace_id = ${workspaceId} and seq = ${String(seq)} returning *`
  return async () => {
    await sql()`insert into workspace_links ${sql()(row)}`
  }
}

describe('a change that a process stored is not lost before it was read', () => {
  test('a removed host stays removed if its link is deleted immediately', async () => {
    const { text } = await issue()
    const value = marked('sk_live_')
    await store(value)
    await expectSent(text, value)
    await disallow(host)
    const putBack = await cutOff()
    await expectNotSent(text, 'unverified_state')
    // Nobody continues from the previous state either, like an admin who was removed would.
    const body = { domain: 'after.example', link: await allowance('after.example') }
    const path = `/api/workspaces/${project.workspaceId}/allowlist/`
    const answer = await stage.app.call('POST', path, { token: project.owner.token, body })
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'unverified_state' } })
    await putBack()
    await expectNotSent(text, 'domain_blocked')
    await allow(host)
    await expectSent(text, value)
  })

  test('a replaced value stays replaced if its old rows return', async () => {
    const { text } = await issue()
    const { projectId } = project
    const rowsOf = async () => ({
      secrets: await sql()<
        Row[]
      >`select value, value_hash from secrets where project_id = ${projectId}`,
      manifests: await sql()<Row[]>`
        select revision, statement, signature from manifests where project_id = ${projectId}`,
    })
    const putBack = async ({ secrets, manifests }: Awaited<ReturnType<typeof rowsOf>>) => {
      await sql()`update secrets set ${sql()(secrets[0] ?? {})} where project_id = ${projectId}`
      await sql()`update manifests set ${sql()(manifests[0] ?? {})} where project_id = ${projectId}`
    }
    const [older, newer] = [marked('sk_live_'), marked('sk_live_')]
    await store(older)
    await expectSent(text, older)
    const before = await rowsOf()
    await store(newer)
    const after = await rowsOf()
    await putBack(before)
    await expectNotSent(text, 'unverified_state')
    await putBack(after)
    await expectSent(text, newer)
  })

  test('a process does not keep a change that was rolled back, and accepts another in its place', async () => {
    const { text } = await issue()
    const value = marked('sk_live_')
    await store(value)
    await sql()`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused by the test'; end $$`
    await sql()`create trigger refuse before insert on allowlist_log execute function refuse()`
    await expect(allow('fails.example')).rejects.toMatchObject({ status: 500 })
    await sql()`drop trigger refuse on allowlist_log`
    await expectSent(text, value)
    await allow('holds.example')
    await expectSent(text, value)
  })
})

describe('a database in which no row shows a change any more', () => {
  beforeAll(async () => {
    for (const name of ['bump_policy_version', 'tell_token_change'])
      await sql().unsafe(`create or replace function ${name}() returns trigger language plpgsql as
        $$ begin return null; end $$`)
  })

  test('a process follows the newest state that it stored', async () => {
    const { id, text } = await issue()
    const [older, newer] = [marked('sk_live_'), marked('sk_live_')]
    await store(older)
    await expectSent(text, older)
    await store(newer)
    await expectSent(text, newer)
    await disallow(host)
    await expectNotSent(text, 'domain_blocked')
    await allow(host)
    await expectSent(text, newer)
    const link = await project.link('tokens.revoked', { token_ids: [id] })
    const params = { ...inProject(), token_id: id }
    await project.owner.api.call(revokeWorkloadToken, { params, body: { link } })
    await sql()`update tokens set revoked_at = null where id = ${id}`
    await expectNotSent(text, 'invalid_token')
    await expectSent((await issue()).text, newer)
  })

  test('a process also follows, a moment later, the states that other processes with the file stored', async () => {
    const { text } = await issue()
    const value = marked('sk_live_')
    await store(value)
    await expectSent(text, value)
    const { seq } = await project.chain()
    const link = await project.link('allowlist.changed', { add: [], remove: [host] })
    const { workspaceId: workspace_id } = project
    const signature = Buffer.from(link.signature, 'base64')
    const row = { workspace_id, seq: seq + 1, statement: link.statement, signature }
    await sql()`insert into workspace_links ${sql()(row)}`
    const { head } = await project.chain()
    const other = new SeenStates({ file })
    other.see(workspace_id, { number: seq + 1, hash: head, head: seq + 1 })
    other.close()
    stage.app.clock.advance(1_000)
    await expectNotSent(text, 'domain_blocked')
    await allow(host)
    await expectSent(text, value)
  })
})
