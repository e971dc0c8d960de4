// tier: quick, both databases in test:all
/** Held secrets on the server (protocol 14.1): their form, their writers, and what a write of one deletes. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { renewWorkspaceKey } from '../../../src/client/actions/rekey.ts'
import {
  type Entry,
  openStoredValue,
  uploadSecrets,
} from '../../../src/client/actions/set_secrets.ts'
import {
  deleteStored,
  proveDeleted,
  readProvenValue,
  restoreProven,
  rollBackTo,
  versionsOf,
} from '../../../src/client/actions/stored_secrets.ts'
import type { EnvironmentPlace } from '../../../src/client/environment.ts'
import { readValueVersion } from '../../../src/core/crypto/secret_value.ts'
import type { Policy } from '../../../src/core/policy/policy.ts'
import { listSecrets, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { rekeyWorkspace } from '../../../src/features/workspaces/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
import { openProject } from '../../support/project.ts'
import type { SignedPerson } from '../../support/signed.ts'
import { openEnvironment } from '../../support/signed_environment.ts'
import { manifestOf, type SignedProject, signedProject } from '../../support/statements.ts'

const MEMBER: Policy = { approval: { by: 'member', ttl_seconds: 900 } }
const ADMIN: Policy = { approval: { by: 'admin', ttl_seconds: 0 } }
const environment = 'development'

let app: TestApp
let project: SignedProject
let owner: EnvironmentPlace

beforeAll(async () => {
  app = await sharedApp()
})

beforeEach(async () => {
  project = await signedProject(app)
  owner = openEnvironment(project)
})

function store(policy: Policy | null, value: string, place = owner, key = 'KEY') {
  const entry: Entry = { key, value, policy }
  return uploadSecrets(place, [entry], true)
}

async function versions(key = 'KEY') {
  const listed = await versionsOf(owner, key)
  return listed.map(({ version, policy, value }) => ({
    version,
    isHeld: policy !== null,
    value: openStoredValue(owner, { key, policy, value }),
  }))
}

async function versionOf(version: number, key = 'KEY') {
  const found = (await versionsOf(owner, key)).find((one) => one.version === version)
  if (!found) throw new Error('the version is not kept')
  return { ...found, key }
}

describe('a write of a held secret', () => {
  test('a write of a held secret is stored in the form of its policy, and every member can read it', async () => {
    await store(MEMBER, 'one')
    const readers = [await project.join('member'), await project.join('read_only')]
    for (const reader of readers) {
      const place = openEnvironment(project, reader)
      expect(await readProvenValue(place, 'KEY')).toEqual({
        value: 'one',
        policy: MEMBER,
        version: 1,
      })
    }
    const input = { params: { project_id: project.projectId }, query: { environment } } as const
    const [row] = await project.owner.api.call(listSecrets, {
      ...input,
      query: { environment, include: 'value' },
    })
    expect(readValueVersion(Uint8Array.fromBase64(row?.value ?? ''))).toBe(2)
  })

  test('a write of a held secret is rejected in a workspace that is not signed', async () => {
    const plain = await openProject(app)
    const value = project.seal('KEY', 'one', environment, MEMBER)
    const secrets = [{ key: 'KEY', value, policy: MEMBER }]
    const before = await contentOf(app)
    const body = { project_id: plain.projectId, secrets }
    expectFailure(
      await app.call('POST', '/api/secrets/', { token: plain.owner.token, body }),
      'validation_error',
      { fields: [{ path: 'secrets.0.policy.approval', message: 'needs a signed workspace' }] },
    )
    expect(await contentOf(app)).toEqual(before)
  })

  test('a write of a held secret is rejected if the version byte and the policy disagree', async () => {
    const usual = project.seal('KEY', 'one')
    const held = project.seal('KEY', 'one', environment, MEMBER)
    const isNot = 'is not sealed for approvals, but its policy has approval'
    const isHeld = 'is sealed for approvals, but its policy has no approval'
    const other = Buffer.from('a form of another client').toString('base64')
    const refused = [
      { value: usual, policy: MEMBER, message: isNot },
      { value: usual, policy: ADMIN, message: isNot },
      { value: other, policy: MEMBER, message: isNot },
      { value: held, policy: null, message: isHeld },
      { value: held, policy: { allowed_methods: ['GET'] }, message: isHeld },
      { value: held, policy: undefined, message: isHeld },
    ]
    const before = await contentOf(app)
    for (const { message, ...entry } of refused) {
      const body = {
        project_id: project.projectId,
        secrets: [{ key: 'KEY', ...entry }],
        manifest: await manifestOf(project, { KEY: entry.value }, 1),
      }
      expectFailure(
        await app.call('POST', '/api/secrets/', { token: project.owner.token, body }),
        'validation_error',
        { fields: [{ path: 'secrets.0.value', message }] },
      )
    }
    expect(await contentOf(app)).toEqual(before)
  })

  test('a write without a policy is rejected if the stored secret is held', async () => {
    await store(MEMBER, 'one')
    const value = project.seal('KEY', 'two')
    const body = {
      project_id: project.projectId,
      secrets: { KEY: value },
      manifest: await manifestOf(project, { KEY: value }, 2),
    }
    expectFailure(
      await app.call('POST', '/api/secrets/', { token: project.owner.token, body }),
      'validation_error',
      {
        fields: [
          {
            path: 'secrets.KEY',
            message: 'has a policy: send the policy, or null to remove it',
          },
        ],
      },
    )
  })

  test('a write of a held secret is under the current epoch', async () => {
    const value = Uint8Array.fromBase64(project.seal('KEY', 'one', environment, MEMBER))
    const later = value.with(4, 2).toBase64()
    const body = {
      project_id: project.projectId,
      secrets: [{ key: 'KEY', value: later, policy: MEMBER }],
      manifest: await manifestOf(project, { KEY: later }, 1),
    }
    expectFailure(
      await app.call('POST', '/api/secrets/', { token: project.owner.token, body }),
      'epoch_conflict',
      { fields: [{ path: 'secrets.0', message: 'is sealed for another epoch' }] },
    )
  })
})

describe('a write that adds approval', () => {
  test('a write that adds approval deletes the versions that tokens could read, and keeps those of other secrets', async () => {
    for (const value of ['one', 'two']) {
      await store(null, value)
      await store(null, value, owner, 'OTHER')
    }
    await store(MEMBER, 'two')
    expect(await versions()).toEqual([{ version: 3, isHeld: true, value: 'two' }])
    await store(MEMBER, 'three')
    expect((await versions()).map(({ value }) => value)).toEqual(['three', 'two'])
    expect((await versions('OTHER')).map(({ value }) => value)).toEqual(['two', 'one'])
  })

  test('a write that adds approval deletes the deleted values of its name in that environment only', async () => {
    const production = openEnvironment(project, project.owner, 'production')
    for (const place of [owner, production]) {
      await store(null, 'old', place)
      await store(null, 'old', place, 'OTHER')
      await deleteStored(place, 'KEY')
      await deleteStored(place, 'OTHER')
    }
    await store(MEMBER, 'new')
    await expect(proveDeleted(owner, ['KEY'])).rejects.toThrow('KEY')
    await restoreProven(owner, await proveDeleted(owner, ['OTHER']))
    await restoreProven(production, await proveDeleted(production, ['KEY', 'OTHER']))
    const left = await app.connection.sql`
      select from deleted_secret_versions v join deleted_secrets s on s.id = v.secret_id
      where s.workspace_id = ${project.workspaceId}`
    expect(left).toHaveLength(0)
  })

  test('a write that adds approval deletes nothing if it is rejected', async () => {
    await store(null, 'one')
    await store(null, 'two')
    const value = project.seal('KEY', 'three', environment, MEMBER)
    const before = await contentOf(app)
    const body = {
      project_id: project.projectId,
      secrets: [{ key: 'KEY', value, policy: MEMBER }],
      manifest: await manifestOf(project, { KEY: project.seal('KEY', 'three') }, 3),
    }
    const answer = await app.call('POST', '/api/secrets/', { token: project.owner.token, body })
    expect(answer.status).toBe(422)
    expect(await contentOf(app)).toEqual(before)
  })
})

describe('a rollback', () => {
  test('a rollback restores an earlier held version', async () => {
    await store(MEMBER, 'one')
    await store(ADMIN, 'two')
    await rollBackTo(owner, await versionOf(1))
    expect(await readProvenValue(owner, 'KEY')).toEqual({
      value: 'one',
      policy: MEMBER,
      version: 3,
    })
  })

  test('a rollback is rejected from a secret without approval to a held version', async () => {
    await store(MEMBER, 'one')
    await store(null, 'two')
    const before = await contentOf(app)
    await expect(rollBackTo(owner, await versionOf(1))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Only one of the versions needs approval'),
    })
    expect(await contentOf(app)).toEqual(before)
  })

  test('a rollback is rejected from a held secret to a version that the database claims is another', async () => {
    await store(MEMBER, 'one')
    await store(MEMBER, 'two')
    await app.connection.sql`update secret_versions set policy = null where version = 1`
    const body = {
      version: 1,
      policy: null,
      manifest: await manifestOf(project, { KEY: project.seal('KEY', 'one') }, 3),
    }
    const path = `/api/secrets/${project.projectId}/KEY/rollback/?environment=${environment}`
    expectFailure(await app.call('POST', path, { token: project.owner.token, body }), 'conflict', {
      message:
        'Only one of the versions needs approval, so their keys differ. Set the value again instead.',
    })
  })
})

describe("a secret with an admin's approval", () => {
  const refusal = {
    status: 403,
    code: 'forbidden',
    message: 'This needs the role owner or admin. Yours is member.',
  }
  let member: SignedPerson

  beforeEach(async () => {
    member = await project.join('member')
  })

  test("a secret with an admin's approval is written, rolled back, deleted and restored by owners and admins", async () => {
    const admin = openEnvironment(project, await project.join('admin'))
    for (const place of [admin, owner]) {
      await store(ADMIN, 'one', place)
      await store(ADMIN, 'two', place)
      const [, earlier] = await versionsOf(place, 'KEY')
      if (!earlier) throw new Error('no version is kept')
      await rollBackTo(place, { ...earlier, key: 'KEY' })
      await deleteStored(place, 'KEY')
      await restoreProven(place, await proveDeleted(place, ['KEY']))
      expect((await readProvenValue(place, 'KEY')).value).toBe('one')
    }
  })

  test("a secret with an admin's approval is neither created, replaced nor freed of it by a member", async () => {
    const place = openEnvironment(project, member)
    await expect(store(ADMIN, 'one', place)).rejects.toMatchObject(refusal)
    await store(ADMIN, 'one')
    const before = await contentOf(app)
    for (const policy of [ADMIN, MEMBER, null])
      await expect(store(policy, 'two', place)).rejects.toMatchObject(refusal)
    expect(await contentOf(app)).toEqual(before)
  })

  test("a member cannot add an admin's approval to a secret that the member could write until now", async () => {
    const place = openEnvironment(project, member)
    await store(MEMBER, 'one', place)
    await expect(store(ADMIN, 'one', place)).rejects.toMatchObject(refusal)
    await store(null, 'one', place)
  })

  test("a secret with an admin's approval is not written by a member in one request with others", async () => {
    await store(ADMIN, 'one')
    const place = openEnvironment(project, member)
    const entries: Entry[] = [
      { key: 'FREE', value: 'x', policy: null },
      { key: 'KEY', value: 'two', policy: ADMIN },
    ]
    const before = await contentOf(app)
    await expect(uploadSecrets(place, entries, true)).rejects.toMatchObject(refusal)
    expect(await contentOf(app)).toEqual(before)
  })

  test("a secret with an admin's approval is not rolled back, deleted or restored by a member", async () => {
    await store(MEMBER, 'one')
    await store(ADMIN, 'two')
    const place = openEnvironment(project, member)
    const first = await versionOf(1)
    await expect(rollBackTo(place, first)).rejects.toMatchObject(refusal)
    await expect(deleteStored(place, 'KEY')).rejects.toMatchObject(refusal)
    await store(MEMBER, 'three')
    const second = await versionOf(2)
    await expect(rollBackTo(place, second)).rejects.toMatchObject(refusal)
    await rollBackTo(owner, second)
    await deleteStored(owner, 'KEY')
    const deleted = await proveDeleted(place, ['KEY'])
    await expect(restoreProven(place, deleted)).rejects.toMatchObject(refusal)
  })

  test('the rejection leaves a record', async () => {
    await expect(store(ADMIN, 'one', openEnvironment(project, member))).rejects.toMatchObject(
      refusal,
    )
    const [record] = await app.connection.sql<{ action: string }[]>`
      select action from audit_logs
      where workspace_id = ${project.workspaceId} and action = 'access.denied'`
    expect(record).toBeDefined()
  })
})

test('a policy without its approval in the database makes the secret unreadable, not usable', async () => {
  await store(MEMBER, 'one')
  for (const policy of [null, {}, { approval: { by: 'member', ttl_seconds: 86_400 } }]) {
    const text = policy === null ? null : JSON.stringify(policy)
    await app.connection.sql`update secrets set policy = ${text}::text::json where key = 'KEY'
      and workspace_id = ${project.workspaceId}`
    await expect(readProvenValue(owner, 'KEY')).rejects.toThrow(
      'cannot be decrypted with the policy',
    )
  }
})

describe('a rekey', () => {
  test('a rekey carries held secrets and others into the new epoch, each in its form', async () => {
    await store(MEMBER, 'held')
    await store(ADMIN, 'by admin', owner, 'ADMIN')
    await store({ allowed_methods: ['GET'] }, 'usual', owner, 'USUAL')
    const { next, secrets } = await renewWorkspaceKey(owner, async () => {})
    expect(secrets).toBe(3)
    const after = { ...owner, workspace: next }
    expect((await readProvenValue(after, 'KEY')).value).toBe('held')
    expect((await readProvenValue(after, 'ADMIN')).value).toBe('by admin')
    expect((await readProvenValue(after, 'USUAL')).value).toBe('usual')
    await expect(readProvenValue(owner, 'KEY')).rejects.toThrow()
    await store(MEMBER, 'next', after)
    expect((await readProvenValue(after, 'KEY')).version).toBe(3)
  })

  test('a rekey is rejected with a value in the form of the other policy', async () => {
    await store(MEMBER, 'held')
    const body = {
      epoch: 2,
      members: [
        { user_id: project.owner.userId, encrypted_workspace_key: Buffer.from('x').toBase64() },
      ],
      tokens: [],
      secrets: [
        {
          project_id: project.projectId,
          environment,
          key: 'KEY',
          value: Uint8Array.fromBase64(project.seal('KEY', 'held')).with(4, 2).toBase64(),
          policy: MEMBER,
        },
      ],
    }
    const params = { workspace_id: project.workspaceId }
    await expect(project.owner.api.call(rekeyWorkspace, { params, body })).rejects.toMatchObject({
      code: 'validation_error',
      fields: [
        {
          path: 'secrets.0.value',
          message: 'is not sealed for approvals, but its policy has approval',
        },
      ],
    })
  })
})

test('the contract of a write keeps a held policy exactly as it was sent', async () => {
  const policy = { approval: { ttl_seconds: 60, by: 'member' as const }, allowed_methods: [] }
  const value = project.seal('KEY', 'one', environment, policy)
  const manifest = await manifestOf(project, { KEY: value }, 1)
  const body = {
    project_id: project.projectId,
    secrets: [{ key: 'KEY', value, policy }],
    manifest,
  }
  await project.owner.api.call(upsertSecrets, { body })
  expect(JSON.stringify((await readProvenValue(owner, 'KEY')).policy)).toBe(JSON.stringify(policy))
})
