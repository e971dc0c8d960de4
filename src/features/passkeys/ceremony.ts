/**
 * The response of a browser for a passkey, verified by @simplewebauthn/server: that it is for a page of this server and for
 * the challenge that was asked for, that a person was verified, and that the key signed it. The attestation of an
 * authenticator is not asked for, and one with certificates is refused: to check them, the library would fetch
 * from addresses that stand in them.
 */
import { z } from 'zod'
import { fromBase64Url, fromUtf8 } from '../../core/crypto/encoding.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { addPasskey, passkeyLogin } from './contract.ts'

type NewCredential = InputOf<typeof addPasskey, 'body'>['credential']
type Assertion = InputOf<typeof passkeyLogin, 'body'>['credential']

/** The origin and challenge from the browser. They are trusted after the signature is verified. */
export type CeremonyData = z.output<typeof said>
const said = z.object({
  origin: z.string(),
  challenge: z.string(),
  crossOrigin: z.literal(false).optional(),
})

/** Required: the origin is one that was configured. */
export type Expected = { said: CeremonyData; rpId: string }

export type StoredKey = { publicKey: Uint8Array; counter: number }

const NO_RESULTS = { clientExtensionResults: {}, type: 'public-key' } as const

/** Null for invalid client data, and for a frame in another page. */
export function readClientData(text: string): CeremonyData | null {
  try {
    return said.parse(JSON.parse(fromUtf8(fromBase64Url(text) ?? new Uint8Array()) ?? ''))
  } catch {
    return null
  }
}

/** The key of a new passkey; null if verification fails. */
export async function verifyNew(
  credential: NewCredential,
  { said, rpId }: Expected,
): Promise<(StoredKey & { credentialId: Uint8Array }) | null> {
  const { id, client_data_json: clientDataJSON, attestation_object: attestationObject } = credential
  const { verifyRegistrationResponse, decodeAttestationObject } = await loadWebAuthn()
  try {
    const attestation = fromBase64Url(attestationObject) ?? new Uint8Array()
    const statement = decodeAttestationObject(attestation).get('attStmt')
    if (statement.get('x5c') !== undefined) return null
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...NO_RESULTS,
        id,
        rawId: id,
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: said.challenge,
      expectedOrigin: said.origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    })
    if (!verified || registrationInfo.credential.id !== id) return null
    const { publicKey, counter } = registrationInfo.credential
    return { publicKey, counter, credentialId: fromBase64Url(id) ?? new Uint8Array() }
  } catch {
    // The library throws for any invalid input.
    return null
  }
}

/** The new counter of the key; null if verification fails, or the counter decreases. */
export async function verifyAssertion(
  { id, client_data_json: clientDataJSON, ...rest }: Assertion,
  { said, rpId }: Expected,
  { publicKey, counter }: StoredKey,
): Promise<number | null> {
  const { authenticator_data: authenticatorData, signature, user_handle: userHandle } = rest
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...NO_RESULTS,
        id,
        rawId: id,
        response: { clientDataJSON, authenticatorData, signature, userHandle },
      },
      expectedChallenge: said.challenge,
      expectedOrigin: said.origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
    })
    return verified ? authenticationInfo.newCounter : null
  } catch {
    return null
  }
}

/** It depends on @peculiar/x509, which needs the other one at load time. */
async function loadWebAuthn() {
  await import('reflect-metadata')
  const [server, { decodeAttestationObject }] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  return { ...server, decodeAttestationObject }
}
