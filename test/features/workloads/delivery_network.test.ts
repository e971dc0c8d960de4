// tier: quick
import { expect, test } from 'bun:test'
import { BodyMemory } from '../../../src/core/body_memory.ts'
import { Fault } from '../../../src/core/fault.ts'
import { deliver } from '../../../src/features/workloads/deliver.ts'
import type { Delivering } from '../../../src/features/workloads/derived.ts'

test('the network of a caller with a token is not computed', async () => {
  let asked = 0
  const context = {
    request: new Request('http://localhost/api/workloads/env/', {
      method: 'POST',
      headers: { authorization: 'Bearer of-nobody' },
    }),
    requestId: Bun.randomUUIDv7(),
    origin: 'http://127.0.0.1',
    params: {},
    get network() {
      asked += 1
      return '192.0.2.1'
    },
    expectBytes: () => {},
    countBodies: (owner: string) => new BodyMemory().open(owner),
    holdOpen: () => {},
    putOff: () => {},
    upgrade: () => false,
  }
  const verify = async (text: string) => {
    throw new Fault(text === 'of-nobody' ? 'invalid_token' : 'unavailable')
  }
  const access = { tokens: { verify } } as unknown as Delivering

  await expect(deliver(access, context)).rejects.toMatchObject({ code: 'invalid_token' })

  expect(asked).toBe(0)
})
