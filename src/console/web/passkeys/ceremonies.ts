/** Complete passkey flows between the server, the authenticator and the keys' worker. */
import { ask } from '../keys/ask.ts'
import type { Input, Returned } from '../keys/messages.ts'
import { createPasskey, evaluate, getPasskey } from './authenticator.ts'

export type OwnPasskey = Returned<'passkeys.list'>[number]
export type PasskeyStay = Input<'accounts.stay'>

export async function registerPasskey({ label, password }: { label: string; password: string }) {
  const made = await createPasskey(await ask('passkeys.begin', { password }))
  return handAndWipe(made, (given) => ask('passkeys.add', { ...given, label }))
}

export async function enterByPasskey(staying: PasskeyStay) {
  const used = await getPasskey(await ask('passkeys.beginLogIn', null))
  return handAndWipe(used, (given) => ask('passkeys.logIn', { ...given, ...staying }))
}

/** Unlocks with one of the passkeys that can, created for this host name. */
export async function unlockByPasskey(passkeys: readonly OwnPasskey[], staying: PasskeyStay) {
  const { credential, output } = await toPrfEvaluations(passkeys)
  const id = passkeys.find((one) => one.credential_id === credential.id)?.id ?? ''
  const input = { id, credentialId: credential.id, output }
  return handAndWipe(input, (given) => ask('passkeys.unlock', { ...given, ...staying }))
}

/** Lets a passkey that only signs in also unlock. */
export async function letPasskeyUnlock(passkey: OwnPasskey, password: string) {
  const { credential, output } = await toPrfEvaluations([passkey])
  const input = { id: passkey.id, credentialId: credential.id, output, password }
  return handAndWipe(input, (given) => ask('passkeys.letUnlock', given))
}

async function toPrfEvaluations(passkeys: readonly OwnPasskey[]) {
  const { input: prf } = await ask('passkeys.prf', null)
  return evaluate({ rp_id: location.hostname, prf }, passkeys)
}

/** Wipes the page's copy immediately, because the worker receives its own copy. */
function handAndWipe<I extends Pick<Input<'passkeys.add'>, 'output'>, T>(
  given: I,
  hand: (given: I) => Promise<T>,
): Promise<T> {
  const handed = hand(given)
  given.output?.fill(0)
  return handed
}
