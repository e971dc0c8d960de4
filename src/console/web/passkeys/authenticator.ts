/**
 * The browser's part of a passkey: it calls the authenticator. The PRF's output goes to the keys' worker only. Requests
 * contain only the named fields of the authenticator's answer.
 */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { AskError } from '../keys/ask.ts'
import type { Input, Returned } from '../keys/messages.ts'

type Created = Pick<Input<'passkeys.add'>, 'credential' | 'output'>
type Used = Input<'passkeys.logIn'>
type Known = { credential_id: string; transports: readonly string[] }
type Asked = { challenge: string; rp_id: string; prf: Uint8Array<ArrayBuffer> }

/** COSE: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 300_000

/** Whether this browser supports passkeys here. It does not over plain HTTP or at an IP address. */
export const hasPasskeys = () => typeof PublicKeyCredential === 'function'

/** @throws AskError `passkey_stopped`, `passkey_present`, `passkey_failed` */
export async function createPasskey(begun: Returned<'passkeys.begin'>): Promise<Created> {
  const { challenge, rp_id, user_handle, exclude, email, prf } = begun
  const made = await explainCeremony(
    startRegistration({
      optionsJSON: {
        challenge,
        rp: { id: rp_id, name: 'Cloakroom' },
        user: { id: user_handle, name: email, displayName: email },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: exclude.map(descriptorOf),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        attestation: 'none',
        timeout: TIMEOUT_MS,
        extensions: toPrfInput(prf),
      },
    }),
  )
  const { id, response, clientExtensionResults } = made
  const { enabled, output } = prfOf(clientExtensionResults)
  const known = { credential_id: id, transports: response.transports ?? [] }
  return {
    credential: {
      id,
      client_data_json: response.clientDataJSON,
      attestation_object: response.attestationObject,
      transports: response.transports ?? [],
    },
    // Some authenticators return the output only when the passkey is used.
    output: output ?? (enabled ? (await evaluate({ rp_id, prf }, [known])).output : null),
  }
}

/** Uses any of the user's passkeys, or one of the listed ones. @throws AskError like `createPasskey` */
export async function getPasskey(
  { challenge, rp_id, prf }: Asked,
  known: readonly Known[] = [],
): Promise<Used> {
  const used = await explainCeremony(
    startAuthentication({
      optionsJSON: {
        challenge,
        rpId: rp_id,
        allowCredentials: known.map(descriptorOf),
        userVerification: 'required',
        timeout: TIMEOUT_MS,
        extensions: toPrfInput(prf),
      },
    }),
  )
  const { id, response, clientExtensionResults } = used
  return {
    credential: {
      id,
      client_data_json: response.clientDataJSON,
      authenticator_data: response.authenticatorData,
      signature: response.signature,
      user_handle: response.userHandle ?? '',
    },
    output: prfOf(clientExtensionResults).output,
  }
}

/** Reads the PRF's output alone. Nothing checks the signature, so any challenge works. */
export function evaluate(asked: Omit<Asked, 'challenge'>, known: readonly Known[]): Promise<Used> {
  const challenge = crypto.getRandomValues(new Uint8Array(32))
  return getPasskey({ ...asked, challenge: challenge.toBase64({ alphabet: 'base64url' }) }, known)
}

function descriptorOf({ credential_id: id, transports }: Known) {
  return { id, type: 'public-key' as const, transports: transports as AuthenticatorTransport[] }
}

const toPrfInput = (first: Asked['prf']) => ({ prf: { eval: { first } } })

type Results = Awaited<ReturnType<typeof startRegistration>>['clientExtensionResults']

function prfOf({ prf }: Results) {
  const first = prf?.results?.first
  const output = first instanceof ArrayBuffer ? new Uint8Array(first) : null
  return { enabled: prf?.enabled === true, output }
}

const CODES: Record<string, string> = {
  NotAllowedError: 'passkey_stopped',
  AbortError: 'passkey_stopped',
  InvalidStateError: 'passkey_present',
}

async function explainCeremony<T>(ceremony: Promise<T>): Promise<T> {
  try {
    return await ceremony
  } catch (error) {
    const { name, message } = error as Error
    const code = CODES[name] ?? 'passkey_failed'
    throw new AskError({ code, message, fields: [], requestId: null })
  }
}
