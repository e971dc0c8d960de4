// tier: quick, both databases in test:all
/** The claim about held secrets, for an attacker with the database, `ENCRYPTION_KEY` and a token (protocol 14). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sweepApprovals } from '../../src/approvals/upkeep.ts'
import { openRelease } from '../../src/core/crypto/approval/release_envelope.ts'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { environmentKey, openSecretValue } from '../../src/core/crypto/secret_value.ts'
import { tokenPrivateKey } from '../../src/core/crypto/token.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'

const VALUE = marked('held_')

let stage: Stage
let held: HeldStage
beforeAll(async () => {
  stage = await sharedStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  stage.upstream.received.length = 0
  held = await heldStage(stage)
  await held.store('KEY', VALUE, HELD)
})

const sql = () => stage.app.connection.sql
const bodyOf = () => ({
  target_url: stage.url('/'),
  headers: { authorization: 'Bearer SVC_SECRET_KEY' },
})

/** The envelope of a release without its outer layer; null when it was deleted. */
async function stolenEnvelope(id: string): Promise<Uint8Array | null> {
  const outer = OuterLayer.parse(stage.app.config.ENCRYPTION_KEY)
  const [row] = await sql()<{ envelopes: Uint8Array | null }[]>`
    select envelopes from approvals where id = ${id}`
  if (!row?.envelopes) return null
  const { workspaceId } = held.project
  const plain = await outer.open('approvals.envelopes', workspaceId, [{ uuid: id }], row.envelopes)
  const [{ envelope = '' } = {}] = JSON.parse(new TextDecoder().decode(plain ?? undefined))
  return Uint8Array.fromBase64(envelope)
}

describe('A secret that needs an approval stays closed until a member approves a use, even to an attacker with the database, `ENCRYPTION_KEY` and a live token together. (After an approval, these three open the approved value until one day after the approval ends.)', () => {
  test('with the database, ENCRYPTION_KEY and a live token that was granted its environment', async () => {
    await held.request(bodyOf())
    const { workspaceId, workspaceKey, projectId } = held.project
    const place = { projectId, environment: 'development', key: 'KEY' }
    const outer = OuterLayer.parse(stage.app.config.ENCRYPTION_KEY)
    const [row] = await sql()<{ value: Uint8Array }[]>`
      select value from secrets where workspace_id = ${workspaceId} and key = 'KEY'`
    const parts = [{ uuid: projectId }, { text: 'development' }, { text: 'KEY' }]
    const ciphertext = await outer.open(
      'secrets.value',
      workspaceId,
      parts,
      row?.value ?? new Uint8Array(),
    )
    const keys = [
      environmentKey(workspaceKey, projectId, 'development', 1),
      tokenPrivateKey(held.token.id, held.token.secret),
      held.token.secret,
    ]
    expect(ciphertext).not.toBeNull()
    for (const key of keys)
      for (const policy of [
        HELD,
        null,
        { approval: { by: 'member', ttl_seconds: 86_400 } } as Policy,
      ])
        expect(openSecretValue(key, place, policy, ciphertext ?? new Uint8Array())).toBeNull()
  })

  test('a policy without its approval makes the value unreadable, and not usable', async () => {
    await sql()`update secrets set policy = null where workspace_id = ${held.project.workspaceId}`
    expect(await held.resolve(bodyOf())).toMatchObject({
      status: 422,
      body: { error_code: 'unreadable_secret' },
    })
    expect(stage.upstream.received).toHaveLength(0)
  })

  test('and shows its limit: a released value opens until a day after the release ends', async () => {
    const id = await held.request(bodyOf())
    await held.release(id)
    expect(await held.resolve(bodyOf())).toMatchObject({ status: 200 })
    const stolen = await stolenEnvelope(id)
    const { workspaceId, projectId } = held.project
    const place = {
      ...{ workspaceId, tokenId: held.token.id, approvalId: id, projectId },
      ...{ environment: 'development', key: 'KEY' },
    }
    const privateKey = tokenPrivateKey(held.token.id, held.token.secret)
    const value = openRelease(place, privateKey, stolen ?? new Uint8Array())
    expect(value && new TextDecoder().decode(value)).toBe(VALUE)
    const other = await held.issue()
    const otherKey = tokenPrivateKey(other.id, other.secret)
    expect(openRelease(place, otherKey, stolen ?? new Uint8Array())).toBeNull()
    await sql()`update approvals set used_at = now() - interval '25 hours' where id = ${id}`
    await sweepApprovals(stage.app.connection.db)
    expect(await stolenEnvelope(id)).toBeNull()
  })
})
