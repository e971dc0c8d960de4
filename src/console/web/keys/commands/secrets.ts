/** Secrets: listed without their values, of which one leaves the worker when somebody asks to see it. */
import { readSecret, readSecrets } from '../../../../client/environment.ts'
import { opened, upload } from '../../../../client/sealing.ts'
import type { Policy } from '../../../../platform/policy.ts'
import { Refused } from '../failure.ts'
import type { Held } from '../held.ts'
import { environmentOf, type Place } from '../places.ts'

/** In a signed workspace all of it is verified first. @throws UntrustedChain */
export async function list(held: Held, place: Place) {
  const secrets = await readSecrets(await environmentOf(held, place))
  return secrets.map(({ key, version, policy, updated_at }) => ({
    key,
    version,
    policy: (policy ?? null) as Policy | null,
    updatedAt: updated_at,
  }))
}

/** One value, for somebody to look at. @throws Refused `unreadable_value` */
export async function reveal(held: Held, { key, ...at }: Place & { key: string }) {
  const place = await environmentOf(held, at)
  const value = opened(place, await readSecret(place, key))
  if (value === null) throw new Refused('unreadable_value')
  return value
}

type Change = { key: string; value: string; policy?: Policy | null; expectedVersion?: number }

/** @throws Unstorable, ApiError `conflict` where another version is there by now */
export async function set(held: Held, { secrets, ...at }: Place & { secrets: Change[] }) {
  const place = await environmentOf(held, at)
  const entries = secrets.map(({ key, value, policy, expectedVersion }) => ({
    key,
    value,
    policy,
    expectedVersion,
  }))
  return upload(place, entries, true)
}
