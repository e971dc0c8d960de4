/** The storage of the fake provider's grants and tokens, with a grace period for rotated refresh tokens. */
import type { Adapter, AdapterPayload } from 'oidc-provider'

/** @param hasGrace returns whether a rotated refresh token is still accepted */
export function createMemory(hasGrace: () => boolean): (model: string) => Adapter {
  const stored = new Map<string, AdapterPayload>()
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`
    const findBy = (field: 'uid' | 'userCode', wanted: string) =>
      [...stored].find(
        ([key, payload]) => key.startsWith(`${model}:`) && payload[field] === wanted,
      )?.[1]
    return {
      upsert: async (id, payload) => {
        stored.set(keyOf(id), payload)
      },
      find: async (id) => {
        const payload = stored.get(keyOf(id))
        if (payload === undefined || model !== 'RefreshToken' || !hasGrace()) return payload
        const { consumed: _, ...unconsumed } = payload
        return unconsumed
      },
      findByUid: async (uid) => findBy('uid', uid),
      findByUserCode: async (userCode) => findBy('userCode', userCode),
      consume: async (id) => {
        const payload = stored.get(keyOf(id))
        if (payload) payload.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async (id) => {
        stored.delete(keyOf(id))
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key)
      },
    }
  }
}
