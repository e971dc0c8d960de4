// tier: quick
/** Keys of environments for an existing token. */
import { expect, test } from 'bun:test'
import { findMissingKeys, sendKeys } from '../../src/client/actions/grant.ts'
import type { Api } from '../../src/client/http/api.ts'
import { toPlainWorkspace } from '../../src/client/workspace.ts'
import { toBase64 } from '../../src/core/crypto/encoding.ts'
import { mintToken, tokenKeyPair } from '../../src/core/crypto/token.ts'

const workspace = toPlainWorkspace({
  id: Bun.randomUUIDv7(),
  name: 'acme',
  epoch: 2,
  key: new Uint8Array(32).fill(1),
})
const { id, secret } = mintToken('agt')
const holder = { id, publicKey: toBase64(tokenKeyPair(id, secret).publicKey) }
const projectId = Bun.randomUUIDv7()
const placesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ projectId, environment: `env-${at}` }))

test('more environments than one call accepts are granted in several, each once and in order', async () => {
  const calls: string[][] = []
  const api = {
    call: async (_: unknown, { body }: { body: { environment: string }[] }) => {
      calls.push(body.map(({ environment }) => environment))
    },
  } as unknown as Api
  const places = placesOf(501)
  await sendKeys({ api, workspace }, { agentId: Bun.randomUUIDv7() }, holder, places)
  expect(calls.map(({ length }) => length)).toEqual([500, 1])
  expect(calls.flat()).toEqual(places.map(({ environment }) => environment))
  await sendKeys({ api, workspace }, { projectId }, holder, [])
  expect(calls).toHaveLength(2)
})

test('a key from before a rekey counts as missing, and is reported', () => {
  const places = placesOf(3)
  const provisioned = [
    { project_id: projectId, environment: 'env-0', epoch: 2 },
    { project_id: projectId, environment: 'env-1', epoch: 1 },
  ]
  expect(findMissingKeys(workspace, { provisioned }, places)).toEqual([
    { projectId, environment: 'env-1', hadEarlier: true },
    { projectId, environment: 'env-2', hadEarlier: false },
  ])
})
