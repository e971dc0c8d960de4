/** Helpers that the tests of passkeys share. */
import { randomBytes } from 'node:crypto'
import { beginPasskey, beginPasskeyLogin } from '../../../src/features/passkeys/contract.ts'
import type { Answer, TestApp } from '../../support/app.ts'
import { ORIGIN, openPasskey, type SoftPasskey, type Wrong } from '../../support/authenticator.ts'
import type { Person } from '../../support/people.ts'

export const OWN = '/api/auth/passkeys/'
export const LOGIN = '/api/auth/login/passkey/'

/** Opaque to the server, like every wrapped key. */
export const sealedSeed = () => randomBytes(61).toString('base64')

export const begin = ({ api, password }: Person, origin = ORIGIN) =>
  api.call(beginPasskey, { body: { current_password: password, origin } })

/** One more passkey of a person, as listed by the server, and as held by its authenticator. */
export async function addTo(app: TestApp, person: Person, more: object = {}) {
  const key = await openPasskey()
  const { challenge, user_handle } = await begin(person)
  const body = { label: 'Laptop', credential: key.create(challenge), ...more }
  const answer = await app.call('POST', OWN, { token: person.token, body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return { key, userHandle: user_handle, shown: (answer.body as { data: { id: string } }).data }
}

export async function logInWith(
  app: TestApp,
  { key, userHandle }: { key: SoftPasskey; userHandle: string },
  wrong: Wrong & { challenge?: string } = {},
): Promise<Answer> {
  const { challenge } = await app.as().call(beginPasskeyLogin, { body: { origin: ORIGIN } })
  const credential = await key.get(wrong.challenge ?? challenge, userHandle, wrong)
  return app.call('POST', LOGIN, { body: { credential } })
}
