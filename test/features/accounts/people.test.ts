// tier: quick
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fingerprint } from '../../../src/core/crypto/fingerprint.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { refusal, refusedField, said } from './support.ts'

let app: TestApp
let ada: Person
let bea: Person
beforeAll(async () => {
  app = await startTestApp({ RATE_LOGIN: '20/60' })
  ada = await registerPerson(app, 'ada')
  bea = await registerPerson(app, 'bea')
})
afterAll(() => app.stop())

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const publicKeyOf = (email: string) =>
  app.call('GET', `/api/users/${encodeURIComponent(email)}/public-key/`, { token: ada.token })

test('whoami returns the caller, and no data that unlocks the account', async () => {
  const answer = await app.call('GET', '/api/users/me/', { token: bea.token })
  expect(said(answer)).toEqual({
    status: 200,
    body: {
      status: 'success',
      data: {
        id: bea.userId,
        email: bea.email,
        first_name: 'Test',
        last_name: 'Person',
        public_key: base64(bea.publicKey),
        signing_key: null,
        is_instance_owner: false,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    },
  })
})

test('a public key is found by the address in any case, with the fingerprint that people compare', async () => {
  expect(said(await publicKeyOf(bea.email.toUpperCase()))).toEqual({
    status: 200,
    body: {
      status: 'success',
      data: {
        user_id: bea.userId,
        email: bea.email,
        public_key: base64(bea.publicKey),
        signing_key: null,
        key_proof: null,
        fingerprint: await fingerprint(Uint8Array.from(bea.publicKey)),
      },
    },
  })
})

test('an unknown address has no public key, and an invalid address is rejected', async () => {
  expect(said(await publicKeyOf('nobody@people.example'))).toEqual(refusal('not_found'))
  for (const odd of ['nobody', 'a/b@people.example', 'a\u202e@people.example', '..%2f@x.example']) {
    expect(said(await publicKeyOf(odd))).toEqual(refusedField('email', 'must be a valid email'))
  }
})

test('public key requests are limited per person, because an answer reveals who is registered', async () => {
  const statuses = new Set<number>()
  for (let asked = 0; asked < 30; asked += 1) {
    statuses.add((await publicKeyOf('nobody@people.example')).status)
  }
  expect([...statuses]).toEqual([404, 429])
  const refused = await publicKeyOf(bea.email)
  expect(said(refused)).toEqual(refusal('rate_limited'))
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const path = `/api/users/${ada.email}/public-key/`
  expect((await app.call('GET', path, { token: bea.token })).status).toBe(200)
})
