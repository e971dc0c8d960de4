// tier: quick
/** Rules that random histories rarely reach, each beside a case that must stay valid. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import {
  type Chain,
  extend,
  isRekeyDue,
  type LinkChange,
  replay,
  signLink,
  signText,
  verifyEnvelope,
  verifyGrant,
} from '../../src/sigchain/index.ts'
import { historyOf, keysOf, personOf, type Role, userId } from './histories.ts'

const HERE = '01920000-0000-8000-8000-000000000100'
const PROJECT = '01920000-0000-7000-8000-000000000200'
const TOKEN = '01920000-0000-8000-8000-000000000400'
const AT = '2026-11-22T00:00:00.000Z'

type Said = Omit<LinkChange, 'at' | 'signer'>
type Who = { person: number; keys: number; role: Role }

/** 0 owns it, 1 is an admin, 2 a member. */
let chain: Chain
beforeAll(async () => {
  const { links } = await historyOf(HERE, [])
  const people: Who[] = [
    { person: 1, keys: 0, role: 'admin' },
    { person: 2, keys: 0, role: 'member' },
  ]
  chain = await addLink(await replay(HERE, links), 0, await put(...people))
})

async function addLink(chain: Chain, signer: number, said: Said, keys = 0): Promise<Chain> {
  const { signingKey } = await keysOf(signer, keys)
  const change = { ...said, at: AT, signer: userId(signer) } as LinkChange
  return extend(chain, [await signLink(chain, change, signingKey)])
}

async function put(...people: Who[]): Promise<Said> {
  const members = people.map(async ({ person, keys, role }) => ({
    ...(await personOf(person, keys)),
    role,
  }))
  return { type: 'members.put', body: { members: await Promise.all(members) } }
}

function remove(...people: number[]): Said {
  return { type: 'members.removed', body: { user_ids: people.map(userId) } }
}

async function rotate(person: number, keys: number): Promise<Said> {
  const { signing_key, public_key } = await keysOf(person, keys)
  return { type: 'keys.rotated', body: { signing_key, public_key } }
}

/** The results for a grant and an envelope statement of a signer with the newest link. */
async function grantAndEnvelope(chain: Chain, signer: number): Promise<string[]> {
  const { signingKey, public_key } = await keysOf(signer, 0)
  const place = { token_id: TOKEN, project_id: PROJECT, environment: 'production' }
  const text = {
    ...place,
    v: 2,
    workspace_id: HERE,
    head: chain.head,
    signer: userId(signer),
  } as const
  const terms = {
    kind: 'workload',
    agent_id: null,
    label: 'ci',
    public_key,
    expires_at: null,
  } as const
  const grant = await signText('grant', { ...text, ...terms, capabilities: ['read'] }, signingKey)
  const sealed = { epoch: 1, envelope_sha256: 'A'.repeat(43) }
  const envelope = await signText('envelope', { ...text, ...sealed }, signingKey)
  const entry = { tokenId: TOKEN, projectId: PROJECT, environment: 'production', epoch: 1 }
  const verdicts = await Promise.allSettled([
    verifyGrant(chain, grant, { id: TOKEN, publicKey: public_key }, new Date(AT)),
    verifyEnvelope(chain, envelope, { ...entry, envelope: null }),
  ])
  return verdicts.map((each) => (each.status === 'rejected' ? each.reason.reason : 'good'))
}

const isRule = (detail: string) => ({ reason: 'rule', subject: 'link 3', detail })

describe('a link that names an object twice', () => {
  test('a link that removes a member twice is rejected', async () => {
    const twice = addLink(chain, 0, remove(2, 2))
    await expect(twice).rejects.toMatchObject(isRule('it has duplicate entries'))
    expect((await addLink(chain, 0, remove(2, 1))).members.size).toBe(1)
  })

  test('a link that revokes a token twice is rejected', async () => {
    const revoke = (...token_ids: string[]) =>
      addLink(chain, 1, { type: 'tokens.revoked', body: { token_ids } })
    await expect(revoke(TOKEN, TOKEN)).rejects.toMatchObject(
      isRule('it revokes a token that is already revoked'),
    )
    expect((await revoke(TOKEN)).revokedTokens.has(TOKEN)).toBe(true)
  })
})

describe('addresses and keys become free again', () => {
  test('the address and keys of a removed member are free for another person', async () => {
    const { email, ...keys } = await personOf(2, 0)
    const successor = { ...keys, email, user_id: userId(3), role: 'member' as const }
    const said: Said = { type: 'members.put', body: { members: [successor] } }
    await expect(addLink(chain, 1, said)).rejects.toMatchObject({ reason: 'rule' })
    const after = await addLink(await addLink(chain, 1, remove(2)), 1, said)
    expect(after.members.get(userId(3))?.email).toBe(email)
  })

  test('the old keys are free after a rotation, but only for people who could have taken them before', async () => {
    const old = await personOf(2, 0)
    const said: Said = {
      type: 'members.put',
      body: {
        members: [{ ...old, email: 'other@example.com', user_id: userId(3), role: 'member' }],
      },
    }
    await expect(addLink(chain, 1, said)).rejects.toMatchObject({ reason: 'rule' })
    const rotated = await addLink(chain, 2, await rotate(2, 1))
    expect((await addLink(rotated, 1, said)).members.size).toBe(4)
  })
})

describe('keys', () => {
  test('a rotation needs two new keys', async () => {
    const [old, next] = [await keysOf(2, 0), await keysOf(2, 1)]
    for (const body of [
      { signing_key: old.signing_key, public_key: next.public_key },
      { signing_key: next.signing_key, public_key: old.public_key },
    ]) {
      const half = addLink(chain, 2, { type: 'keys.rotated', body })
      await expect(half).rejects.toMatchObject(isRule('both keys must be new'))
    }
  })

  test("another person's keys are no rotation, in either place", async () => {
    const [theirs, next] = [await keysOf(1, 0), await keysOf(2, 1)]
    for (const body of [
      { signing_key: theirs.signing_key, public_key: next.public_key },
      { signing_key: next.signing_key, public_key: theirs.public_key },
    ]) {
      const taken = addLink(chain, 2, { type: 'keys.rotated', body })
      await expect(taken).rejects.toMatchObject(isRule('two members share an address or key'))
    }
  })

  test('new keys sign from the next link on', async () => {
    const rotated = await addLink(chain, 1, await rotate(1, 1))
    const allow: Said = { type: 'allowlist.changed', body: { add: ['a.example'], remove: [] } }
    await expect(addLink(rotated, 1, allow)).rejects.toMatchObject({ reason: 'signature' })
    expect((await addLink(rotated, 1, allow, 1)).allowlist.has('a.example')).toBe(true)
  })
})

describe('a signer without permission', () => {
  const others: Said[] = [
    { type: 'allowlist.changed', body: { add: ['a.example'], remove: [] } },
    { type: 'tokens.revoked', body: { token_ids: [TOKEN] } },
    { type: 'epoch.advanced', body: { epoch: 2, key_commitment: toBase64(new Uint8Array(32)) } },
    remove(2),
  ]

  async function expectNone(chain: Chain, person: number, reason: 'right' | 'signer') {
    const invite = await put({ person: 4, keys: 0, role: 'member' })
    const end: Said = { type: 'workspace.deleted', body: {} }
    for (const said of [...others, invite, end])
      await expect(addLink(chain, person, said)).rejects.toMatchObject({ reason })
    expect(await grantAndEnvelope(chain, person)).toEqual([reason, reason])
  }

  test('a removed member can neither sign nor grant, even with new keys', async () => {
    for (const said of others) await addLink(chain, 1, said)
    expect(await grantAndEnvelope(chain, 1)).toEqual(['good', 'good'])
    const removed = await addLink(chain, 0, remove(1))
    await expectNone(removed, 1, 'signer')
    await expect(addLink(removed, 1, await rotate(1, 1))).rejects.toMatchObject({
      reason: 'signer',
    })
    expect(await grantAndEnvelope(removed, 0)).toEqual(['good', 'good'])
  })

  test('a read-only member can only change keys and leave', async () => {
    const reading = await addLink(chain, 0, await put({ person: 3, keys: 0, role: 'read_only' }))
    await expectNone(reading, 3, 'right')
    const promoted = addLink(reading, 3, await put({ person: 3, keys: 0, role: 'admin' }))
    await expect(promoted).rejects.toMatchObject({ reason: 'right' })
    expect((await addLink(reading, 3, remove(3))).members.size).toBe(3)
    expect((await addLink(reading, 3, await rotate(3, 1))).members.size).toBe(4)
  })
})

describe('a refusal', () => {
  test('an error names the link, and the reason, without submitted text', async () => {
    await expect(addLink(chain, 1, remove(0))).rejects.toThrow(
      'link 3 is refused: its signer does not have this right',
    )
    await expect(addLink(chain, 0, remove(0))).rejects.toThrow(
      'link 3 is refused: no owner would remain',
    )
  })

  test('an error leaves the chain unchanged, and valid links continue it', async () => {
    const before = structuredClone(chain)
    await expect(addLink(chain, 0, remove(1, 0))).rejects.toMatchObject({ reason: 'last_owner' })
    expect(chain).toEqual(before)
    expect((await addLink(chain, 0, remove(1))).members.size).toBe(2)
  })
})

describe('a rekey is due', () => {
  const readOnly = () => put({ person: 2, keys: 0, role: 'read_only' })
  const rekey: Said = {
    type: 'epoch.advanced',
    body: { epoch: 2, key_commitment: new Uint8Array(32).fill(9).toBase64() },
  }

  test.each<[string, number, () => Said | Promise<Said>]>([
    ['when somebody was removed', 0, () => remove(2)],
    ['when somebody left', 2, () => remove(2)],
    ['when somebody may only read any more', 0, readOnly],
    ['when somebody has new keys', 2, () => rotate(2, 1)],
  ])('a rekey is due %s, until the key is a new one', async (_, signer, change) => {
    const changed = await addLink(chain, signer, await change())
    expect([isRekeyDue(chain), isRekeyDue(changed)]).toEqual([false, true])
    const next = await addLink(changed, 0, rekey)
    expect(isRekeyDue(next)).toBe(false)
  })

  test('no rekey is due after new members, in any role, or more permissions', async () => {
    const came = await addLink(chain, 0, await put({ person: 3, keys: 0, role: 'read_only' }))
    const rose = await addLink(came, 0, await put({ person: 3, keys: 0, role: 'member' }))
    const fell = await addLink(rose, 0, await put({ person: 1, keys: 0, role: 'member' }))
    expect([came, rose, fell].map(isRekeyDue)).toEqual([false, false, false])
  })
})
